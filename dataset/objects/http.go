package objects

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset/objects/internal/connections"
	"github.com/penstock-go/penstock/dataset/objects/internal/response"
	"github.com/penstock-go/penstock/internal/figures"
)

// A server is a [Remote] over HTTP or HTTPS.
type server struct {
	base         *url.URL // with a slash at the end; nil if sign makes all URLs
	client       *http.Client
	indexVersion atomic.Value // a string: that of the index that was read first
	httpConfig
}

// An HTTPOption changes what [HTTP] makes. The zero HTTPOption sets nothing.
type HTTPOption struct{ set func(*httpConfig) }

type httpConfig struct {
	index       string
	listing     []Object
	listed      bool
	sign        func(ctx context.Context, name string) (string, error)
	header      http.Header
	given       *http.Client
	unversioned bool
}

// Index names the object that lists all others, one per line: the name, and after tabs
// its size in bytes and its version. Size and version may be left out. The lines that
// find prints are such a list:
//
//	find . -type f > index.txt               # names
//	find * -type f -printf '%p\t%s\n'        # with sizes: saves a request per object
//
// All listings are of the version of the index that was read first. Without an index or a
// [Listing], objects can be read but not listed.
func Index(name string) HTTPOption {
	return HTTPOption{func(c *httpConfig) { c.index = name }}
}

// Listing gives the objects of the server. An object needs a name; a negative size is
// looked up on the server.
func Listing(objects ...Object) HTTPOption {
	return HTTPOption{func(c *httpConfig) {
		c.listing, c.listed = append(c.listing, objects...), true
	}}
}

// Sign sets the function that makes the URL of an object, such as a presigned one. It
// is called before every request, by several goroutines at once. Its errors are final, and
// one that is [fs.ErrNotExist] means that the object is missing.
func Sign(url func(ctx context.Context, name string) (string, error)) HTTPOption {
	return HTTPOption{func(c *httpConfig) { c.sign = url }}
}

// Header adds a field to every request, such as a token. No error names it, and no
// redirect to another host gets it.
func Header(key, value string) HTTPOption {
	return HTTPOption{func(c *httpConfig) {
		if c.header == nil {
			c.header = http.Header{}
		}
		c.header.Add(key, value)
	}}
}

// HTTPClient sends the requests through client, with its transport, cookies and limits.
// Its Timeout should be 0: [Silence] finds requests that hang. The default is a client
// of HTTP/1.1 that keeps its connections, as many as there are reads at once.
func HTTPClient(client *http.Client) HTTPOption {
	return HTTPOption{func(c *httpConfig) { c.given = client }}
}

// Unversioned allows objects for which the server sends neither ETag nor Last-Modified.
// Such an object may be replaced by another of the same size without an error.
func Unversioned() HTTPOption { return HTTPOption{func(c *httpConfig) { c.unversioned = true }} }

// HTTP makes a remote of the files below the URL base. The query of base, such as an
// access signature, is sent with every request, and so are a user name and a password.
// base may be empty if [Sign] makes the URLs. HTTP sends no request.
//
// This is what it expects of servers:
//
//   - Ranges (RFC 9110, section 14). Of a server without ranges only reads from the beginning
//     of an object succeed.
//   - Versions. A strong ETag is the version, and is sent as If-Match. Without one it is
//     Last-Modified, which has seconds only, and without that a weak ETag. If there is
//     none of them, reads are errors, unless [Unversioned] allows them.
//   - Identity. Content-Encoding is an error, because ranges of a compressed
//     response are not bytes of the object.
//   - Redirects are followed, up to 10, but not from HTTPS to HTTP, and not to an address of the
//     machine itself or of its link, such as 127.0.0.1, localhost or 169.254.169.254, unless the
//     first URL names such an address or a private one.
//   - Status 408, 425, 429 and those from 500 on, except 501 and 505, are temporary: the
//     client tries again. 404 and 410 mean missing. 401, 403, 407 and 409 mean forbidden.
//     If the response or the URL says so, 400 and the first three of these mean expired.
//     412 and 416 mean replaced. Other statuses are errors, too.
func HTTP(base string, options ...HTTPOption) (Remote, error) {
	s := &server{}
	for _, option := range options {
		if option.set != nil {
			option.set(&s.httpConfig)
		}
	}
	if base != "" || s.sign == nil {
		u, err := url.Parse(base)
		if err != nil || !isWeb(base) {
			return nil, errors.New("objects: HTTP: " + wantURL)
		}
		if !strings.HasSuffix(u.Path, "/") {
			u = u.JoinPath("/")
		}
		s.base = u
	}
	if s.index != "" && s.listed {
		return nil, errors.New("objects: HTTP: Index and Listing: want one of them")
	}
	if s.index != "" && !fs.ValidPath(s.index) {
		return nil, fmt.Errorf("objects: HTTP: Index(%q): want a path", s.index)
	}
	s.listing, s.header = slices.Clone(s.listing), s.header.Clone()
	s.client = s.newClient()
	return s, nil
}

// wantURL does not show the URL, which may hold a password.
const wantURL = "want a URL that begins with http:// or https://"

func isWeb(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// newClient makes the client that sends all requests.
func (s *server) newClient() *http.Client {
	client := http.Client{}
	if s.given != nil {
		client = *s.given
	} else {
		client.Transport = connections.New()
	}
	further := client.CheckRedirect
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		r.Header.Del("Referer") // would tell the next server the query of a presigned URL
		first := via[0].URL
		switch {
		case r.URL.Host != first.Host:
			for key := range s.header {
				r.Header.Del(key)
			}
		case r.URL.User == nil:
			r.URL.User = first.User // a Location without a host has kept it
		}
		switch {
		case via[len(via)-1].URL.Scheme == "https" && r.URL.Scheme != "https":
			return Permanent(errors.New("redirected from https to " + r.URL.Scheme))
		case isNear(r.URL.Hostname()) && !isNear(first.Hostname()) && !isPrivate(first.Hostname()):
			return Permanent(errors.New("redirected to an address of this machine or of its link"))
		case further != nil:
			return further(r, via)
		case len(via) >= 10:
			return Permanent(errors.New("redirected 10 times"))
		}
		return nil
	}
	return &client
}

// isNear reports whether a host is an address of the machine itself or of its link: services
// there trust whoever reaches them. Names other than localhost are not looked up.
func isNear(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	last := host[strings.LastIndexByte(host, '.')+1:]
	if a, err := netip.ParseAddr(host); err == nil {
		a = a.Unmap()
		return a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsUnspecified()
	}
	// Some resolvers take 127.1 and 0x7f000001 for addresses, but no name ends in a number.
	return last == "localhost" || last != "" && '0' <= last[0] && last[0] <= '9'
}

// isPrivate reports whether a host is an address of a private network.
func isPrivate(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsPrivate()
}

// Identity is the URL without its query, user name and password. It is empty if [Sign]
// makes the URLs.
func (s *server) Identity() string {
	if s.sign != nil {
		return ""
	}
	return s.base.Scheme + "://" + s.base.Host + s.base.EscapedPath()
}

// String is the identity. It shows no credentials.
func (s *server) String() string { return cmp.Or(s.Identity(), "URLs made by Sign") }

// GoString is String, because other fields may be credentials.
func (s *server) GoString() string { return s.String() }

// CloseIdleConnections closes connections that no request uses. Reads open new ones.
func (s *server) CloseIdleConnections() { s.client.CloseIdleConnections() }

// A missingError is an error of Sign for an object that is missing.
type missingError struct{ error }

func (missingError) Is(target error) bool { return target == fs.ErrNotExist }

// urlOf is the URL of an object.
func (s *server) urlOf(ctx context.Context, name string) (string, error) {
	if !fs.ValidPath(name) || name == "." {
		return "", Permanent(fmt.Errorf("want a path, got %q", name))
	}
	if s.sign != nil {
		signed, err := s.sign(ctx, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", missingError{response.Public(err)}
		case err != nil:
			return "", Permanent(response.Public(err))
		case !isWeb(signed):
			return "", Permanent(errors.New("Sign: " + wantURL))
		}
		return signed, nil
	}
	u := *s.base
	u.Path, u.RawPath = u.Path+name, ""
	return u.String(), nil
}

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

// mostLine is how many bytes a line of an index may have.
const mostLine = 64 << 10

// List yields the objects of the listing or the index, in its order, and the zero
// Object for those that it leaves out.
func (s *server) List(ctx context.Context, prefix, after string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		skip := after != ""
		for o, err := range s.all(ctx, after) {
			switch {
			case err != nil:
				yield(Object{}, err)
				return
			case skip || !strings.HasPrefix(o.Name, prefix):
				skip = skip && o.Name != after
				o = Object{}
			}
			if !yield(o, nil) {
				return
			}
		}
		if skip {
			yield(Object{}, Permanent(fmt.Errorf("the listing no longer has %s, where it goes on", after)))
		}
	}
}

func (s *server) all(ctx context.Context, after string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		switch {
		case s.listed:
			for _, o := range s.listing {
				if !yield(o, nil) {
					return
				}
			}
		case s.index != "":
			s.readIndex(ctx, after != "", yield)
		default:
			yield(Object{}, Permanent(errors.New("the server has no listing: want Index or Listing")))
		}
	}
}

// readIndex yields the objects of the index while it is downloaded. again says that the
// index was read before, up to an object after which the listing goes on.
func (s *server) readIndex(ctx context.Context, again bool, yield func(Object, error) bool) {
	fail := func(err error) { yield(Object{}, fmt.Errorf("index %s: %w", s.index, err)) }
	want, _ := s.indexVersion.Load().(string)
	resp, err := s.send(ctx, Object{Name: s.index, Version: want}, "")
	if err != nil {
		fail(err)
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		fail(refused(resp))
		return
	}
	if err := errors.Join(identity(resp.Header), bounded(resp)); err != nil {
		fail(err)
		return
	}
	switch version, err := s.version(resp.Header, want); {
	case err != nil && (again || want != ""):
		fail(err)
		return
	case err == nil && version != "" && !s.indexVersion.CompareAndSwap(nil, version) && s.indexVersion.Load() != version:
		fail(ErrReplaced) // another listing has begun with that version
		return
	}
	lines := bufio.NewReaderSize(resp.Body, mostLine)
	for n, ended := 1, false; !ended; n++ {
		// Part of a line counts only if the index ends there: the connection may have broken.
		line, err := lines.ReadSlice('\n')
		switch {
		case err == io.EOF:
			ended = true
		case err == bufio.ErrBufferFull:
			fail(Permanent(fmt.Errorf("line %d has more than %d bytes", n, mostLine)))
			return
		case err != nil:
			fail(err)
			return
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		o, err := parseLine(string(line))
		if err != nil {
			fail(Permanent(fmt.Errorf("line %d: %w", n, err)))
			return
		}
		if o.Name != s.index && !yield(o, nil) {
			return
		}
	}
}

// bounded refuses a response that ends where the connection does, because it may have broken.
func bounded(resp *http.Response) error {
	if resp.ProtoMajor == 1 && resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 {
		return Permanent(errors.New("the response does not tell where it ends"))
	}
	return nil
}

// parseLine reads a line of an index: a name, and after tabs a size and a version.
func parseLine(line string) (Object, error) {
	name, rest, _ := strings.Cut(line, "\t")
	size, version, _ := strings.Cut(rest, "\t")
	o := Object{Name: strings.TrimPrefix(name, "./"), Size: -1, Version: version}
	if !fs.ValidPath(o.Name) || o.Name == "." {
		return o, fmt.Errorf("%.200q is not a path", name)
	}
	if size != "" {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n < 0 || len(size) > len("9223372036854775807") { // the name shares its memory
			return o, fmt.Errorf("size %.200q: want a number of bytes", size)
		}
		o.Size = n
	}
	return o, nil
}
