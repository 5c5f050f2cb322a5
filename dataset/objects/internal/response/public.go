package response

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"regexp"
	"strings"

	"github.com/penstock-go/penstock/internal/figures"
)

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
