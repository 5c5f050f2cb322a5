package azure

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/internal/conformance"
	"github.com/penstock-go/penstock/internal/testenv"
)

const secret = "c2VjcmV0"

// answering is a container of a server that gives the same answer to every request.
func answering(t *testing.T, status int, header http.Header, body string, query string, options ...Option) *objects.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return client(t, server.URL+"/photos"+query, options...)
}

// client is one that does not try again.
func client(t *testing.T, location string, options ...Option) *objects.Client {
	t.Helper()
	remote, err := Open(location, options...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := objects.NewClient(remote, objects.Retries(0), objects.Hedge(0), objects.Silence(time.Minute)) // 32 MiB take seconds
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestErrorsSayWhatTheServiceMeans(t *testing.T) {
	says := func(code, detail string) string {
		return "<?xml version='1.0'?><Error><Code>" + code + "</Code><AuthenticationErrorDetail>" + detail + "</AuthenticationErrorDetail></Error>"
	}
	named := func(code string) http.Header { return http.Header{"X-Ms-Error-Code": {code}} }
	for _, c := range []struct {
		status int
		header http.Header
		body   string
		is     error
		want   string
	}{
		{404, named("BlobNotFound"), "", fs.ErrNotExist, "missing: HTTP 404 BlobNotFound"},
		{404, nil, says("ContainerNotFound", ""), fs.ErrNotExist, "missing: HTTP 404 ContainerNotFound"},
		{403, named("AuthenticationFailed"), says("", secret), fs.ErrPermission, "forbidden: HTTP 403 AuthenticationFailed"},
		{403, named("AuthorizationPermissionMismatch"), "", fs.ErrPermission, "forbidden: HTTP 403 AuthorizationPermissionMismatch"},
		{401, named("NoAuthenticationInformation"), "", fs.ErrPermission, "forbidden: HTTP 401 NoAuthenticationInformation"},
		{409, named("PublicAccessNotPermitted"), "", fs.ErrPermission, "forbidden: HTTP 409 PublicAccessNotPermitted"},
		{409, named("BlobArchived"), "", fs.ErrPermission, "forbidden: HTTP 409 BlobArchived"},
		{403, named("AuthenticationFailed"), says("AuthenticationFailed", "Signature not valid in the specified time frame: Start [a] - Expiry [b]"), objects.ErrExpired, "expired: HTTP 403 AuthenticationFailed"},
		{403, named("AuthenticationFailed"), says("AuthenticationFailed", "Signed expiry time [a] must be after signed start time [b]"), objects.ErrExpired, "expired: HTTP 403 AuthenticationFailed"},
		{412, named("ConditionNotMet"), "", objects.ErrReplaced, "replaced by another version: HTTP 412 ConditionNotMet"},
		{416, named("InvalidRange"), "", objects.ErrReplaced, "replaced by another version: HTTP 416 InvalidRange"},
		{503, named("ServerBusy"), "", nil, "gave up after 1 failures in a row: HTTP 503 ServerBusy"},
		{302, http.Header{"Location": {"http://127.0.0.1:1/?sig=" + secret}}, "", nil, "HTTP 302 Found"},
		{206, http.Header{"Content-Range": {"bytes 3-7/36"}, "Etag": {`"1"`}}, "34567", nil, "the response begins at byte 3, want 2"},
		{206, http.Header{"Content-Range": {"bytes two"}, "Etag": {`"1"`}}, "34567", nil, `the response has Content-Range "bytes two"`},
		{206, http.Header{"Content-Range": {"bytes 2-6/36"}}, "23456", nil, "the service tells no ETag"},
		{200, http.Header{"Etag": {`"1"`}}, "23456", nil, "the response begins at byte 0, want 2"},
	} {
		err := answering(t, c.status, c.header, c.body, "", SharedKey("myaccount", secret)).ReadAt(t.Context(), objects.Object{Name: "x", Size: 36}, make([]byte, 5), 2)
		if err == nil || !strings.HasPrefix(err.Error(), "objects: read x: "+c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%d %s: got %v, want %s", c.status, c.body, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

// A response need not say that a signature is too old: its own time does.
func TestOldSignaturesAreExpired(t *testing.T) {
	for hours, want := range map[int]error{-1: objects.ErrExpired, 1: fs.ErrPermission} {
		until := time.Now().Add(time.Duration(hours) * time.Hour).UTC().Format("2006-01-02T15:04Z")
		c := answering(t, 403, nil, "", "?sv=2025-01-05&sr=c&sp=r&se="+until+"&sig="+secret)
		if _, err := c.Stat(t.Context(), "x"); !errors.Is(err, want) || strings.Contains(err.Error(), secret) {
			t.Errorf("valid until %s: got %v, want %v", until, err, want)
		}
	}
}

func TestListingsLeaveOutFolders(t *testing.T) {
	page := `<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs>
		<Blob><Name>train</Name><Properties><Etag>0x1</Etag><ResourceType>directory</ResourceType><Content-Length>0</Content-Length></Properties></Blob>
		<Blob><Name>train/1.jpg</Name><Properties><Etag>0x2</Etag><ResourceType>file</ResourceType><Content-Length>7</Content-Length></Properties></Blob>
		<Blob><Name Encoded="true">train%2F%EF%BF%BE</Name><Properties><Etag>"0x3"</Etag><Content-Length>8</Content-Length></Properties></Blob>
		</Blobs><NextMarker /></EnumerationResults>`
	c := answering(t, 200, http.Header{"Content-Type": {"application/xml"}}, page, "", Anonymous())
	var got []objects.Object
	for o, err := range c.List(t.Context(), "train") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, o)
	}
	want := []objects.Object{{Name: "train/1.jpg", Size: 7, Version: `"0x2"`}, {Name: "train/\uFFFE", Size: 8, Version: `"0x3"`}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestNamesDoNotLeaveTheContainer(t *testing.T) {
	c := answering(t, 206, http.Header{"Content-Range": {"bytes 0-0/36"}, "Etag": {`"1"`}}, "0", "", Anonymous())
	for name, want := range map[string]string{"a/..b/...": "<nil>", "..": "path", "../other/x": "path", "a/./x": "path", "a/../../other/x": "path"} {
		if _, err := c.Stat(t.Context(), name); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: got error %v, want %s", name, err, want)
		}
	}
}

func TestDamagedListingsAreErrors(t *testing.T) {
	for _, page := range []string{
		"", "<", "{}", "<EnumerationResults/>", "<EnumerationResults><Blobs><Blob>", "<EnumerationResults><Blobs><Blob/></Blobs></EnumerationResults>",
		"<EnumerationResults><Blobs><Blob><Properties><Content-Length>x</Content-Length></Properties></Blob></Blobs></EnumerationResults>",
		"<EnumerationResults><Blobs><Blob><Name Encoded='true'>%zz</Name></Blob></Blobs></EnumerationResults>",
	} {
		c := answering(t, 200, nil, page, "", Anonymous())
		if _, err := objects.NewFS(t.Context(), c, ""); err == nil {
			t.Errorf("%s is a listing", page)
		}
	}
}

// The service compares the version, so that no byte of another one is sent.
func TestReadsAskForOneVersion(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("X-Ms-Range")+" of "+r.Header.Get("If-Match"))
		w.Header().Set("Content-Range", "bytes 2-6/36")
		w.Header().Set("ETag", `"1"`)
		w.WriteHeader(http.StatusPartialContent)
		io.WriteString(w, "23456")
	}))
	defer server.Close()
	c := client(t, server.URL+"/photos", Anonymous())
	for range 2 { // the first response tells the version
		if err := c.ReadAt(t.Context(), objects.Object{Name: "x", Size: 36}, make([]byte, 5), 2); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := strings.Join(asked, ", "), `bytes=2-6 of , bytes=2-6 of "1"`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUnreachableServicesAreNamedWithoutTheirURL(t *testing.T) {
	_, err := client(t, "http://127.0.0.1:1/photos?sig="+secret).Stat(t.Context(), "x")
	if err == nil || !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "://") || strings.Contains(err.Error(), secret) {
		t.Error(err)
	}
}

func TestOpenRefusesWhatIsNoContainer(t *testing.T) {
	const account = "https://myaccount.blob.core.windows.net"
	for _, c := range []struct {
		location string
		options  []Option
		want     string
	}{
		{"", nil, wantURL},
		{"photos", nil, wantURL},
		{account, nil, wantURL},
		{account + "/photos/train", nil, wantURL},
		{"https://user:" + secret + "@host/photos", nil, wantURL},
		{"https://host/%zz?sig=" + secret, []Option{Anonymous()}, wantURL},
		{account + "/photos", []Option{SharedKey("myaccount", "?"+secret)}, "SharedKey: want the name of an account and a key in base64"},
		{account + "/photos", []Option{ConnectionString("AccountName=a;AccountKey=" + secret)}, "with ConnectionString: want the name of a container"},
		{"photos", []Option{ConnectionString("AccountName=a")}, "ConnectionString: want an account with a key or a shared access signature"},
		{"photos", []Option{ConnectionString("AccountName=a;AccountKey=?" + secret)}, "ConnectionString: want an account with a key or a shared access signature"},
		{account + "/photos?sig=" + secret, []Option{Anonymous()}, "want one of a shared access signature, Credential, SharedKey, ConnectionString and Anonymous"},
	} {
		if _, err := Open(c.location, c.options...); err == nil || err.Error() != "azure: Open: "+c.want {
			t.Errorf("%s: got %v, want %s", c.location, err, c.want)
		}
	}
}

func TestIdentityNamesServiceAndContainerWithoutCredentials(t *testing.T) {
	for _, c := range []struct{ location, want string }{
		{"https://myaccount.blob.core.windows.net/photos", "az://myaccount.blob.core.windows.net/photos"},
		{"https://myaccount.blob.core.windows.net/photos/?sv=1&sig=" + secret, "az://myaccount.blob.core.windows.net/photos"},
		{"http://127.0.0.1:10000/devstoreaccount1/photos", "az://127.0.0.1:10000/devstoreaccount1/photos"},
	} {
		if got := client(t, c.location).Identity(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if got := client(t, "photos", ConnectionString("AccountName=myaccount;AccountKey="+secret)).Identity(); got != "az://myaccount.blob.core.windows.net/photos" {
		t.Errorf("with a connection string: %q", got)
	}
}

func TestServicesThatPreferHTTP2AreReadWithHTTP1(t *testing.T) {
	server := conformance.HTTP2(t)
	c, err := Open(server.URL+"/account/photos", Anonymous())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Get(t.Context(), objects.Object{Name: "x"}, 0, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want the service's answer", err)
	}
	server.Want(t, "HTTP/1.1")
}

// A page without end would take memory without end.
func TestAPageOfAListingIsBounded(t *testing.T) {
	testenv.Slow(t)
	c := answering(t, 200, nil, `<EnumerationResults><Blobs><Blob><Name>`+strings.Repeat("a", 33<<20), "", Anonymous())
	_, err := objects.NewFS(t.Context(), c, "")
	if err == nil || !strings.Contains(err.Error(), "an answer of more than 32 MiB that is no object") || strings.Contains(err.Error(), "gave up") {
		t.Errorf("error %.500v", err)
	}
}

func TestAReadIsNotBoundedAsAPageIs(t *testing.T) {
	const n = 33 << 20
	c := answering(t, 206, http.Header{"Content-Range": {fmt.Sprintf("bytes 0-%d/%d", n-1, n)}, "Etag": {`"1"`}}, strings.Repeat("a", n), "", Anonymous())
	p := make([]byte, n)
	if err := c.ReadAt(t.Context(), objects.Object{Name: "x", Size: n, Version: `"1"`}, p, 0); err != nil || p[n-1] != 'a' {
		t.Error(err)
	}
}
