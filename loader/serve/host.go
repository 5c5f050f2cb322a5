package serve

import (
	"fmt"
	"net"
	"net/http"
	"strings"
)

// open reports whether everybody who reaches the address may read the data: then only the
// loopback interface keeps others out.
func (l *listening) open(s *Server) bool {
	return !l.insecure && !s.cfg.token && l.certificate == ""
}

// named answers requests that name this machine, by the loopback interface or by the host of
// address. A browser sends others for a site whose name leads to this machine, and would let the
// site's pages read the answers.
func (s *Server) named(address string) http.Handler {
	own, _, _ := net.SplitHostPort(address)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.refusesBody(w, r) {
			return
		}
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil { // it has no port
			host = strings.Trim(r.Host, "[]")
		}
		if !net.ParseIP(host).IsLoopback() && !strings.EqualFold(host, "localhost") && !strings.EqualFold(host, own) {
			s.refuse(w, http.StatusForbidden, fmt.Errorf("host %.64q: want localhost; a Token or Insecure allows others", host))
			return
		}
		s.ServeHTTP(w, r)
	})
}
