package objects

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// refused is the error of a response without the bytes that are wanted.
func refused(resp *http.Response) error {
	code := resp.StatusCode
	status := fmt.Errorf("HTTP %d %s", code, http.StatusText(code))
	switch code {
	case http.StatusNotFound, http.StatusGone:
		return &statusError{"missing", status, fs.ErrNotExist}
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable:
		return &statusError{ErrReplaced.Error(), status, ErrReplaced}
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		if expired(resp) {
			return &statusError{ErrExpired.Error(), status, ErrExpired}
		}
		if code != http.StatusBadRequest {
			return &statusError{"forbidden", status, fs.ErrPermission}
		}
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return later(resp, status)
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
	default:
		if code >= 500 {
			return later(resp, status)
		}
	}
	return Permanent(status)
}

// A statusError says what a status means: "missing: HTTP 404 Not Found".
type statusError struct {
	meaning string
	status  error
	is      error
}

func (e *statusError) Error() string { return e.meaning + ": " + e.status.Error() }
func (e *statusError) Unwrap() error { return e.is }

// later is a status that may pass, with the wait that the server asks for.
func later(resp *http.Response, status error) error {
	field := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(field, 10, 31); err == nil {
		return RetryAfter(time.Duration(seconds)*time.Second, status)
	}
	if at, err := http.ParseTime(field); err == nil {
		return RetryAfter(time.Until(at), status)
	}
	return status
}

// expired reports whether a response, or the URL that was asked, says that the request
// came too late. The words are those of S3, Google Cloud Storage and Azure.
func expired(resp *http.Response) bool {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	text = bytes.ToLower(text)
	for _, words := range []string{"expired", "signature not valid in the specified time frame"} {
		if bytes.Contains(text, []byte(words)) {
			return true
		}
	}
	return resp.Request != nil && time.Now().After(expiry(resp.Request.URL.Query()))
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

// hopeless reports whether an error of a connection stays.
func hopeless(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return true
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return untrusted
}
