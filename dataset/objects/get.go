package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/penstock-go/penstock/dataset/objects/internal/response"
	"github.com/penstock-go/penstock/internal/figures"
)

// mostSkipped is how many bytes before those that are wanted are read from a server
// without ranges.
const mostSkipped = 1 << 20

// Get requests n bytes of o from byte off on.
func (s *Server) Get(ctx context.Context, o Object, off, n int64) (io.ReadCloser, Object, error) {
	resp, err := s.send(ctx, o, fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	if err != nil {
		return nil, o, err
	}
	body, found, err := s.accept(resp, o, off, n)
	if err != nil {
		_ = resp.Body.Close() // the error says more
		return nil, o, err
	}
	return body, found, nil
}

// send sends a request for a range, or for the whole object if ranges is empty.
func (s *Server) send(ctx context.Context, o Object, ranges string) (*http.Response, error) {
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

// accept checks a response to a request for n bytes from off on.
func (s *Server) accept(resp *http.Response, o Object, off, n int64) (io.ReadCloser, Object, error) {
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
		if sent.End < off+n && sent.End != sent.Size {
			resp.Body = &part{resp.Body, sent.End - off}
		}
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
		if off > mostSkipped {
			return nil, o, Permanent(fmt.Errorf("the server does not serve ranges: want byte %d, it sends the whole object", off))
		}
		if _, err := io.CopyN(io.Discard, resp.Body, off); err != nil {
			return nil, o, unexpected(err)
		}
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
func (s *Server) version(h http.Header, want string) (string, error) {
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

// errPart ends the body of a server that sends fewer bytes than a request asks for, and
// says so. The next request goes on there.
var errPart = errors.New("the server limits the bytes of a response")

// A part is a body of that many bytes.
type part struct {
	io.ReadCloser
	left int64
}

func (b *part) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errPart
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	if b.left -= int64(n); b.left == 0 {
		err = errPart
	}
	return n, err
}
