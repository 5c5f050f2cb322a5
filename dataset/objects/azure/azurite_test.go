package azure

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/internal/conformance"
)

// account and key are those of the services that the tests start.
const account = "penstock"

var key = base64.StdEncoding.EncodeToString([]byte("a secret of 64 bytes, as those of Azure are, for tests and no more"))

// azurite starts Azurite, and returns the URL of its account.
//
// It checks signatures with keys, shared access signatures and their times, and If-Match.
// Of tokens it checks no signature, so the tests of tokens have a service of their own.
func azurite(t *testing.T) string {
	program := conformance.Program(t, "npm/node_modules/.bin/azurite-blob")
	port := conformance.Ports(t, 1)[0]
	t.Setenv("AZURITE_ACCOUNTS", account+":"+key)
	conformance.Start(t, "http://127.0.0.1:"+port+"/", program, "--blobHost", "127.0.0.1", "--blobPort", port,
		"--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--silent")
	return "http://127.0.0.1:" + port + "/" + account
}

// owner is a client that may do everything with a container, which it makes.
func owner(t *testing.T, location string, o *container.CreateOptions) *container.Client {
	t.Helper()
	credential, err := container.NewSharedKeyCredential(account, key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := container.NewClientWithSharedKeyCredential(location, credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return c
}

func put(ctx context.Context, c *container.Client, name string, data []byte, o *blockblob.UploadOptions) error {
	_, err := c.NewBlockBlobClient(name).Upload(ctx, nopCloser{bytes.NewReader(data)}, o)
	return err
}

type nopCloser struct{ io.ReadSeeker }

func (nopCloser) Close() error { return nil }

// signature is a shared access signature for reading a container, or a blob of it, that is
// valid until a time.
func signature(t *testing.T, name, blobName string, until time.Time) string {
	t.Helper()
	credential, err := blob.NewSharedKeyCredential(account, key)
	if err != nil {
		t.Fatal(err)
	}
	values := sas.BlobSignatureValues{Protocol: sas.ProtocolHTTPSandHTTP, ExpiryTime: until.UTC(), ContainerName: name, BlobName: blobName, Permissions: "r"}
	if blobName == "" {
		values.Permissions = "rl"
	}
	query, err := values.SignWithSharedKey(credential)
	if err != nil {
		t.Fatal(err)
	}
	return query.Encode()
}

// through sends requests through a transport.
func through(t http.RoundTripper) Option {
	return Client(func(o *container.ClientOptions) { o.Transport = &http.Client{Transport: t} })
}

func TestAzurite(t *testing.T) {
	service := azurite(t)
	t.Run("Conformance", func(t *testing.T) { conformant(t, service+"/bucket") })
	t.Run("EveryKindOfCredentialReads", func(t *testing.T) { credentials(t, service) })
	t.Run("CompressedBlobsAreReadAsTheyAreStored", func(t *testing.T) { compressed(t, service+"/compressed") })
	t.Run("ListingsGoOnWithThePageThatBroke", func(t *testing.T) { listings(t, service+"/listings") })
}

func conformant(t *testing.T, location string) {
	admin := owner(t, location, nil)
	conformance.Test(t, conformance.Service{
		Secret: key,
		NotNames: map[string]string{
			"back\\slash": "it stores the name with a slash, as Azure does",
			"control\x01": "it writes the name into XML as it is",
		},
		Put: func(ctx context.Context, name string, data []byte) error {
			return put(ctx, admin, name, data, nil)
		},
		Remove: func(ctx context.Context, name string) error {
			_, err := admin.NewBlobClient(name).Delete(ctx, nil)
			return err
		},
		Open: func(t *testing.T, a conformance.Access) objects.Remote {
			to, password := location, key
			if a.Missing {
				to += "-that-is-missing"
			}
			if a.WrongCredentials {
				password = base64.StdEncoding.EncodeToString([]byte("another secret"))
			}
			c, err := Open(to, SharedKey(account, password), through(a.Transport), Option{})
			if err != nil {
				t.Fatal(err)
			}
			c.(*remote).page = int32(a.Page)
			return c
		},
		Presign: func(t *testing.T, name string, old bool) string {
			until := time.Now().Add(time.Minute)
			if old {
				until = until.Add(-time.Hour)
			}
			return admin.NewBlobClient(name).URL() + "?" + signature(t, "bucket", name, until)
		},
	})
}

func credentials(t *testing.T, service string) {
	for name, public := range map[string]bool{"private": false, "public": true} {
		o := &container.CreateOptions{}
		if public {
			o.Access = to.Ptr(container.PublicAccessTypeContainer)
		}
		if err := put(t.Context(), owner(t, service+"/"+name, o), "a/x", []byte("0123456789"), nil); err != nil {
			t.Fatal(err)
		}
	}
	valid, old := signature(t, "private", "", time.Now().Add(time.Hour)), signature(t, "private", "", time.Now().Add(-time.Hour))
	connection := "BlobEndpoint=" + service + ";AccountName=" + account + ";"
	for _, c := range []struct {
		name, location string
		options        []Option
		is             error
		want           string // begin of the error
	}{
		{"key", service + "/private", []Option{SharedKey(account, key)}, nil, ""},
		{"signature", service + "/private?" + valid, nil, nil, ""},
		{"connection string with a key", "private", []Option{ConnectionString(connection + "AccountKey=" + key)}, nil, ""},
		{"connection string with a signature", "private", []Option{ConnectionString(connection + "SharedAccessSignature=" + valid)}, nil, ""},
		{"anonymous", service + "/public", []Option{Anonymous()}, nil, ""},

		{"anonymous, private", service + "/private", []Option{Anonymous()}, fs.ErrPermission, "forbidden: HTTP 403 "},
		{"wrong key", service + "/private", []Option{SharedKey(account, "c2VjcmV0")}, fs.ErrPermission, "forbidden: HTTP 403 AuthorizationFailure"},
		{"old signature", service + "/private?" + old, nil, objects.ErrExpired, "expired: HTTP 403 AuthorizationFailure"},
		{"signature of another container", service + "/public2?" + valid, nil, fs.ErrPermission, "forbidden: HTTP 403 AuthorizationFailure"},
		{"missing container", service + "/none", []Option{SharedKey(account, key)}, fs.ErrNotExist, "missing: HTTP 404 ContainerNotFound"},
	} {
		remote, err := Open(c.location, c.options...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		client, err := objects.NewClient(remote)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 5)
		read := client.ReadAt(t.Context(), objects.Object{Name: "a/x", Size: -1}, got, 5)
		var list error
		n := 0
		for _, list = range client.List(t.Context(), "a/") {
			n++
		}
		if c.want == "" {
			if read != nil || string(got) != "56789" || list != nil || n != 1 {
				t.Errorf("%s: got %q, %v; a listing of %d objects, %v", c.name, got, read, n, list)
			}
			continue
		}
		for op, err := range map[string]error{"read a/x": read, "list a/": list} {
			if !errors.Is(err, c.is) || !strings.HasPrefix(err.Error(), "objects: "+op+": "+c.want) {
				t.Errorf("%s: got %v, want %s", c.name, err, c.want)
				continue
			}
			if text := err.Error(); strings.Contains(text, "sig=") || strings.Contains(text, key) || strings.Contains(text, "://") {
				t.Errorf("%s: the error shows too much: %v", c.name, err)
			}
		}
	}
}

// Package net/http decompresses what it has asked to be compressed.
func compressed(t *testing.T, location string) {
	gzipped := append([]byte{0x1f, 0x8b}, "0123456789"...)
	o := &blockblob.UploadOptions{HTTPHeaders: &blob.HTTPHeaders{BlobContentEncoding: to.Ptr("gzip")}}
	if err := put(t.Context(), owner(t, location, nil), "x.gz", gzipped, o); err != nil {
		t.Fatal(err)
	}
	remote, err := Open(location, SharedKey(account, key), Client(func(o *container.ClientOptions) { o.Transport = http.DefaultClient }))
	if err != nil {
		t.Fatal(err)
	}
	client, err := objects.NewClient(remote, objects.Retries(0))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(gzipped))
	if err := client.ReadAt(t.Context(), objects.Object{Name: "x.gz", Size: -1}, got, 0); err != nil || !bytes.Equal(got, gzipped) {
		t.Errorf("got %q, error %v", got, err)
	}
}

// A listing that breaks off goes on where its page began, and does not begin anew.
func listings(t *testing.T, location string) {
	admin := owner(t, location, nil)
	for i := range 20 {
		if err := put(t.Context(), admin, fmt.Sprintf("a/%02d", i), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	calls, broken := 0, 8
	count := Client(func(o *container.ClientOptions) {
		o.PerCallPolicies = append(o.PerCallPolicies, call(func(r *policy.Request) (*http.Response, error) {
			if calls++; calls == broken {
				return nil, errors.New("broken")
			}
			return r.Next()
		}))
	})
	blobs, err := Open(location, SharedKey(account, key), count)
	if err != nil {
		t.Fatal(err)
	}
	blobs.(*remote).page = 2
	client, err := objects.NewClient(blobs)
	if err != nil {
		t.Fatal(err)
	}
	names := func(after string) (got []string, err error) {
		for o, err := range blobs.List(t.Context(), "a/", after) {
			if err != nil {
				return got, err
			}
			if o.Name != "" { // it has left out a page
				got = append(got, o.Name)
			}
		}
		return got, nil
	}
	n := 0
	for o, err := range client.List(t.Context(), "a/") {
		if want := fmt.Sprintf("a/%02d", n); err != nil || o.Name != want {
			t.Fatalf("got %+v, error %v, want %s", o, err, want)
		}
		n++
	}
	if n != 20 || calls > 12 {
		t.Errorf("%d objects in %d requests, want 20 in 11 or 12", n, calls)
	}

	got, err := names("a/16") // which no listing had come to
	if want := "[a/17 a/18 a/19]"; fmt.Sprint(got) != want || err != nil {
		t.Errorf("got %v, error %v, want %s", got, err, want)
	}
	if got, err := names("a/16x"); err == nil || !strings.Contains(err.Error(), "no longer there") {
		t.Errorf("after an object that is not there: got %v, error %v", got, err)
	}
}

// call is a policy for every call of the library.
type call func(r *policy.Request) (*http.Response, error)

func (c call) Do(r *policy.Request) (*http.Response, error) { return c(r) }
