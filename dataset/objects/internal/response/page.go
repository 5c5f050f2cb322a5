package response

import (
	"errors"
	"io"
	"net/http"
	"strings"
)

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
