// Package response says what the responses of services mean for a read: whether an
// object is missing, forbidden or replaced, and whether to try again. Package objects
// and its modules for buckets share it.
package response

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
)

var (
	// ErrExpired is objects.ErrExpired.
	ErrExpired error = &outdated{text: "expired"}
	// ErrReplaced is objects.ErrReplaced.
	ErrReplaced error = &outdated{text: "replaced by another version", persists: true}
)

// An outdated error is of what the program knows of an object, not of its bytes: it may not
// come again in another run. See dataset.MayPass.
type outdated struct {
	text     string
	persists bool // for those who know the object from one listing
}

func (e *outdated) Error() string    { return e.text }
func (e *outdated) Temporary() bool  { return true }
func (e *outdated) Persistent() bool { return e.persists }

// Permanent is err as an error after which nobody tries again.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanentError{err}
}

type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// Final reports whether it is of no use to try again after err.
func Final(err error) bool {
	_, permanent := errors.AsType[permanentError](err)
	return permanent ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, ErrExpired) || errors.Is(err, ErrReplaced)
}

// RetryAfter is err of a service that asks not to try again before d has passed.
func RetryAfter(d time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return retryError{err, d}
}

type retryError struct {
	error
	after time.Duration
}

func (e retryError) Unwrap() error { return e.error }

// Asked is how long the service asks to wait, according to err.
func Asked(err error) time.Duration {
	asked, _ := errors.AsType[retryError](err)
	return asked.after
}

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

// secret matches the query of a URL, and a user name and password.
var secret = regexp.MustCompile(`\?[^\s"]*|//[^/\s"]*@`)

// Public is err of package net/http without its URL. It says nothing about an object: a file
// that is missing is one with credentials.
func Public(err error) error {
	for u, ok := errors.AsType[*url.Error](err); ok; u, ok = errors.AsType[*url.Error](err) {
		err = u.Err // a request for a token may be inside
	}
	text := err.Error()
	if strings.Contains(text, "failed to parse Location") {
		return Permanent(errors.New("redirected to a URL that is not valid")) // net/http repeats it
	}
	if secret.MatchString(text) {
		text = figures.OneLine(secret.ReplaceAllString(text, "…"))
		if Final(err) {
			return Permanent(errors.New(text))
		}
		return errors.New(text)
	}
	err = figures.InOneLine(err)
	text = err.Error()
	if errors.Is(err, fs.ErrNotExist) {
		return Permanent(errors.New(text))
	}
	if hopeless(err) {
		return Permanent(err)
	}
	return err
}

// hopeless reports whether an error of a connection stays.
func hopeless(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return true
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return untrusted
}

// A Range is what a header field Content-Range says.
type Range struct {
	Begin, End int64 // of the bytes in the body; End is the byte after them
	Size       int64 // of the object; -1 if it is not told
}

// ContentRange parses "bytes 0-99/1234" and "bytes */1234", which has no bytes.
func ContentRange(field string) (r Range, err error) {
	wrong := Permanent(fmt.Errorf("the response has Content-Range %.100q", field))
	rest, ok := strings.CutPrefix(field, "bytes ")
	bytes, total, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 {
		return r, wrong
	}
	if r.Size = -1; total != "*" {
		if r.Size, err = number(total); err != nil {
			return r, wrong
		}
	}
	if bytes == "*" {
		return r, nil
	}
	first, last, ok := strings.Cut(bytes, "-")
	if r.Begin, err = number(first); err != nil || !ok {
		return r, wrong
	}
	if r.End, err = number(last); err != nil || r.End < r.Begin || r.Size >= 0 && r.End >= r.Size {
		return r, wrong
	}
	r.End++
	return r, nil
}

// number parses digits. Another byte follows the one of that number, so it is not the
// largest int64.
func number(digits string) (int64, error) {
	n, err := strconv.ParseUint(digits, 10, 63)
	if n == math.MaxInt64 {
		return 0, strconv.ErrRange
	}
	return int64(n), err
}

// mostPage is how many bytes an answer may have that is not part of an object. A page of a listing
// has five thousand names of a kilobyte at most, and as much again about each.
const mostPage = 32 << 20

// Bounded sends a request. The answer's body is an error after 32 MiB if it is a page of a listing,
// or a refusal: the vendors' libraries read such a body whole. Reads of objects ask for ranges.
func Bounded(r *http.Request, send func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	resp, err := send(r)
	if err == nil && resp.Body != nil && (!hasRange(r.Header) || resp.StatusCode >= http.StatusMultipleChoices) {
		resp.Body = &page{resp.Body, mostPage}
	}
	return resp, err
}

// hasRange reports whether a request asks for a range. Azure's library writes x-ms-range in lower
// case.
func hasRange(h http.Header) bool {
	for key := range h {
		if strings.EqualFold(key, "Range") || strings.EqualFold(key, "X-Ms-Range") {
			return true
		}
	}
	return false
}

type page struct {
	io.ReadCloser
	left int64
}

func (p *page) Read(to []byte) (int, error) {
	if p.left <= 0 {
		return 0, Permanent(errors.New("an answer of more than 32 MiB that is no object"))
	}
	n, err := p.ReadCloser.Read(to[:min(int64(len(to)), p.left)])
	p.left -= int64(n)
	return n, err
}
