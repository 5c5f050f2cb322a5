package objects

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/penstock-go/penstock/dataset/objects/internal/response"
)

// refused is the error of a response without the bytes that are wanted.
func refused(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // also so that the connection can be used again
	if resp.Request != nil && time.Now().After(expiry(resp.Request.URL.Query())) {
		text = []byte("expired")
	}
	return response.Refused(resp.StatusCode, resp.Header, "", string(text))
}

// expiry is until when the query of a presigned URL says that it is valid. Without
// that it is in the far future.
func expiry(query url.Values) time.Time {
	for _, vendor := range []string{"X-Amz-", "X-Goog-"} {
		signed, err := time.Parse("20060102T150405Z", query.Get(vendor+"Date"))
		seconds, err2 := strconv.ParseUint(query.Get(vendor+"Expires"), 10, 31)
		if err == nil && err2 == nil {
			return signed.Add(time.Duration(seconds) * time.Second)
		}
	}
	if at, err := time.Parse(time.RFC3339, query.Get("se")); err == nil { // Azure
		return at
	}
	if seconds, err := strconv.ParseInt(query.Get("Expires"), 10, 64); err == nil { // CloudFront, S3's version 2
		return time.Unix(seconds, 0)
	}
	return time.Unix(1<<40, 0)
}
