package response

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
)

// Refused is the error of an HTTP response without the bytes that are wanted. name is what
// the service calls the error, such as NoSuchBucket, or empty. It is shown. says is what
// else the response says of it. It is not shown.
func Refused(code int, header http.Header, name, says string) error {
	status := fmt.Errorf("HTTP %d %.100s", code, figures.OneLine(cmp.Or(name, http.StatusText(code))))
	switch code {
	case http.StatusNotFound, http.StatusGone:
		if name == NoBucket || name == "NoSuchBucket" || name == "ContainerNotFound" {
			return noBucketError{&statusError{"missing", status, fs.ErrNotExist}}
		}
		return &statusError{"missing", status, fs.ErrNotExist}
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable:
		return &statusError{ErrReplaced.Error(), status, ErrReplaced}
	case http.StatusConflict: // what Azure says of an archived object, and of a container without public access
		return &statusError{"forbidden", status, fs.ErrPermission}
	case http.StatusForbidden:
		if throttled(name) {
			return later(header, status)
		}
		fallthrough
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusProxyAuthRequired:
		if expired(name + says) {
			return &statusError{ErrExpired.Error(), status, ErrExpired}
		}
		if code != http.StatusBadRequest {
			return &statusError{"forbidden", status, fs.ErrPermission}
		}
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return later(header, status)
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
	default:
		if code >= 500 {
			return later(header, status)
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

// NoBucket is the name of the error that a whole bucket is missing, where the service has none.
const NoBucket = "no such bucket"

// A noBucketError says nothing about the object: see dataset.MayPass.
type noBucketError struct{ *statusError }

func (noBucketError) Temporary() bool { return true }

// throttled reports whether Google Cloud Storage means that there were too many requests when
// it says forbidden.
//
// Source: https://cloud.google.com/storage/docs/json_api/v1/status-codes#403-forbidden.
func throttled(name string) bool {
	return strings.HasSuffix(strings.ToLower(name), "ratelimitexceeded")
}

// later is a status that may pass, with the wait that the server asks for.
func later(header http.Header, status error) error {
	field := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(field, 10, 31); err == nil {
		return RetryAfter(time.Duration(seconds)*time.Second, status)
	}
	if at, err := http.ParseTime(field); err == nil {
		return RetryAfter(time.Until(at), status)
	}
	return status
}

// expired reports whether a response says that the request came too late. The words are
// those of S3, Google Cloud Storage and Azure, whose second ones are those for a signature
// that tells no time from which on it is valid.
func expired(says string) bool {
	says = strings.ToLower(says)
	for _, words := range []string{"expired", "signature not valid in the specified time frame", "must be after signed start time"} {
		if strings.Contains(says, words) {
			return true
		}
	}
	return false
}
