package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/penstock-go/penstock/dataset/objects/internal/connections"
	"github.com/penstock-go/penstock/dataset/objects/internal/response"
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

// Names is [Listing] of objects whose sizes and versions are not known.
func Names(names ...string) HTTPOption {
	list := make([]Object, len(names))
	for i, name := range names {
		list[i] = Object{Name: name, Size: -1}
	}
	return Listing(list...)
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
