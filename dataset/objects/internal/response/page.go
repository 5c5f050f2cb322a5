package response

import (
	"errors"
	"io"
	"net/http"
)

// mostPage is how many bytes an answer may have that is not part of an object. A page of a listing
// has five thousand names of a kilobyte at most, and as much again about each.
const mostPage = 32 << 20

// Bounded is the answer to a request, with a body that is an error after 32 MiB if it is a page of
// a listing, or a refusal. The vendors' libraries read such a body whole. Reads of objects ask for
// ranges.
func Bounded(resp *http.Response, err error) (*http.Response, error) {
	if err != nil || resp.Body == nil {
		return resp, err
	}
	ranges := resp.Request != nil && (resp.Request.Header.Get("Range") != "" || resp.Request.Header.Get("X-Ms-Range") != "")
	if !ranges || resp.StatusCode >= http.StatusMultipleChoices {
		resp.Body = &page{resp.Body, mostPage}
	}
	return resp, nil
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
