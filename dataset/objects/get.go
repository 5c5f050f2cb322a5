package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/dataset/objects/internal/response"
	"github.com/penstock-go/penstock/internal/figures"
)

// Get requests n bytes of o from byte off on.
func (s *server) Get(ctx context.Context, o Object, off, n int64) (io.ReadCloser, Object, error) {
	resp, err := s.send(ctx, o, fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	if err != nil {
		return nil, o, err
	}
	body, found, err := s.accept(resp, o, off)
	if err != nil {
		_ = resp.Body.Close() // the error says more
		return nil, o, err
	}
	return body, found, nil
}

// send sends a request for a range, or for the whole object if ranges is empty.
func (s *server) send(ctx context.Context, o Object, ranges string) (*http.Response, error) {
	target, err := s.urlOf(ctx, o.Name)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, Permanent(response.Public(err))
	}
	for key, values := range s.header {
		req.Header[key] = values
	}
	req.Header.Set("Accept-Encoding", "identity")
	if ranges != "" {
		req.Header.Set("Range", ranges)
	}
	if strings.HasPrefix(o.Version, `"`) {
		req.Header.Set("If-Match", o.Version)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, response.Public(err)
	}
	return resp, nil
}

// accept checks a response to a request for bytes from off on.
func (s *server) accept(resp *http.Response, o Object, off int64) (io.ReadCloser, Object, error) {
	found := Object{Name: o.Name, Size: -1}
	switch resp.StatusCode {
	case http.StatusPartialContent:
		sent, err := response.ContentRange(resp.Header.Get("Content-Range"))
		if err != nil {
			return nil, o, err
		}
		if sent.End == 0 {
			return nil, o, Permanent(errors.New("the response has no bytes"))
		}
		if sent.Begin != off {
			return nil, o, Permanent(fmt.Errorf("the response begins at byte %d, want %d", sent.Begin, off))
		}
		found.Size = sent.Size
	case http.StatusOK:
		found.Size = resp.ContentLength
	case http.StatusRequestedRangeNotSatisfiable:
		if sent, err := response.ContentRange(resp.Header.Get("Content-Range")); err == nil && sent.Size == 0 && off == 0 && o.Size <= 0 {
			_ = resp.Body.Close() // it is a message for people
			found.Size, resp.Body = 0, http.NoBody
			break
		}
		return nil, o, refused(resp)
	default:
		return nil, o, refused(resp)
	}
	if err := identity(resp.Header); err != nil {
		return nil, o, err
	}
	var err error
	if found.Version, err = s.version(resp.Header, o.Version); err != nil {
		return nil, o, err
	}
	if o.Size >= 0 && found.Size >= 0 && o.Size != found.Size {
		return nil, o, fmt.Errorf("%w: %d bytes, were %d", ErrReplaced, found.Size, o.Size)
	}
	if resp.StatusCode == http.StatusOK && off > 0 {
		return nil, o, Permanent(fmt.Errorf("the server does not serve ranges: want byte %d, it sends the whole object", off))
	}
	return resp.Body, found, nil
}

// identity refuses a response that is compressed.
func identity(h http.Header) error {
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return Permanent(fmt.Errorf("the response has Content-Encoding %.40q, want the bytes of the object themselves", encoding))
	}
	return nil
}

// version is the version that a response tells. want is the one that it must be, or
// empty.
func (s *server) version(h http.Header, want string) (string, error) {
	tag, modified := h.Get("ETag"), h.Get("Last-Modified")
	weak := strings.HasPrefix(tag, "W/")
	got := tag
	if want == "" && (tag == "" || weak && modified != "") || want != "" && !strings.HasPrefix(want, `"`) && !strings.HasPrefix(want, "W/") {
		got = modified
	}
	switch {
	case got == "" && s.unversioned:
		return want, nil
	case got == "":
		return "", Permanent(errors.New("the server tells no version (neither ETag nor Last-Modified), so a replaced object would not be noticed; Unversioned allows that"))
	case want != "" && got != want:
		return "", fmt.Errorf("%w: %.100s, was %.100s", ErrReplaced, figures.OneLine(got), figures.OneLine(want))
	}
	return got, nil
}

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
