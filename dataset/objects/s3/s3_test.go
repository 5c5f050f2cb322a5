package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/internal/conformance"
	"github.com/penstock-go/penstock/internal/testenv"
)

// key and secret are those of the services that the tests start.
const (
	key    = "AKIDEXAMPLE"
	secret = "wJalrXUtnFEMI-secret"
)

func configured(endpoint, secret string) aws.Config {
	return aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: key, SecretAccessKey: secret}, nil
	})}
}

func pathStyle(o *s3.Options) { o.UsePathStyle = true }

// service makes a bucket in the service at that endpoint.
func service(t *testing.T, endpoint string) conformance.Service {
	t.Helper()
	client := s3.NewFromConfig(configured(endpoint, secret), single, pathStyle)
	bucket := strings.ToLower(fmt.Sprintf("b%d", time.Now().UnixNano()))
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket}); err != nil {
		t.Fatal(err)
	}
	return conformance.Service{
		Secret: secret,
		Put: func(ctx context.Context, name string, data []byte) error {
			_, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &name, Body: bytes.NewReader(data)})
			return err
		},
		Remove: func(ctx context.Context, name string) error {
			_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: &name})
			return err
		},
		Open: func(t *testing.T, a conformance.Access) objects.Remote {
			name, password := bucket, secret
			if a.Missing {
				name = "no-such-bucket"
			}
			if a.WrongCredentials {
				password = "another-" + secret
			}
			c := configured(endpoint, password)
			c.HTTPClient = &http.Client{Transport: a.Transport}
			b, err := Open(t.Context(), name, Config(c), Client(pathStyle), Option{})
			if err != nil {
				t.Fatal(err)
			}
			b.(*remote).page = int32(a.Page)
			return b
		},
		Presign: func(t *testing.T, name string, old bool) string {
			signed := time.Now().UTC()
			if old {
				signed = signed.Add(-time.Hour)
			}
			r, err := s3.NewPresignClient(client).PresignGetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &name},
				s3.WithPresignExpires(time.Minute), func(o *s3.PresignOptions) { o.Presigner = at{o.Presigner, signed} })
			if err != nil {
				t.Fatal(err)
			}
			return r.URL
		},
	}
}

// at signs as of another time.
type at struct {
	s3.HTTPPresignerV4
	time time.Time
}

func (p at) PresignHTTP(ctx context.Context, c aws.Credentials, r *http.Request, hash, service, region string, _ time.Time, options ...func(*v4.SignerOptions)) (string, http.Header, error) {
	return p.HTTPPresignerV4.PresignHTTP(ctx, c, r, hash, service, region, p.time, options...)
}

func fake(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(gofakes3.New(s3mem.New(), gofakes3.WithLogger(gofakes3.StdLog(log.New(io.Discard, "", 0)))).Server())
	t.Cleanup(server.Close)
	return server.URL
}

func TestGofakes3(t *testing.T) {
	s := service(t, fake(t))
	s.Trusting, s.Presign = true, nil
	s.NotNames = map[string]string{"control\x01": "it lists the name in XML as it is"}
	conformance.Test(t, s)
}

func TestSeaweedFS(t *testing.T) {
	weed := conformance.Program(t, "bin/weed")
	ports := conformance.Ports(t, 8)
	identities := fmt.Sprintf(`{"identities":[{"name":"test","credentials":[{"accessKey":%q,"secretKey":%q}],"actions":["Admin","Read","List","Write"]}]}`, key, secret)
	config := filepath.Join(t.TempDir(), "s3.json")
	if err := os.WriteFile(config, []byte(identities), 0o600); err != nil {
		t.Fatal(err)
	}
	endpoint := "http://127.0.0.1:" + ports[0]
	conformance.Start(t, endpoint+"/status", weed, "server", "-dir="+t.TempDir(), "-ip=127.0.0.1", "-s3", "-s3.port="+ports[0], "-s3.port.grpc="+ports[1], "-s3.config="+config,
		"-master.port="+ports[2], "-master.port.grpc="+ports[3], "-filer.port="+ports[4], "-filer.port.grpc="+ports[5], "-volume.port="+ports[6], "-volume.port.grpc="+ports[7],
		"-master.volumeSizeLimitMB=64", "-volume.minFreeSpace=64MiB") // by default it stores nothing on a disk that is 99 % full
	s := service(t, endpoint)
	s.NotNames = map[string]string{"back\\slash": "it stores the name with a slash"}
	conformance.Test(t, s)
}

func TestMoto(t *testing.T) {
	moto := conformance.Program(t, "bin/moto_server")
	port := conformance.Ports(t, 1)[0]
	endpoint := "http://127.0.0.1:" + port
	conformance.Start(t, endpoint+"/moto-api/", moto, "-H", "127.0.0.1", "-p", port)
	s := service(t, endpoint)
	s.Trusting, s.Presign = true, nil
	s.NotNames = map[string]string{"new\nline": "it does not find its own path"}
	conformance.Test(t, s)
}

// answering is a bucket of a server that gives the same answer to every request.
func answering(t *testing.T, status int, header http.Header, body string) *objects.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	b, err := Open(t.Context(), "b", Config(configured(server.URL, secret)), Client(pathStyle))
	if err != nil {
		t.Fatal(err)
	}
	c, err := objects.NewClient(b, objects.Retries(0), objects.Hedge(0), objects.Silence(time.Minute)) // under the race detector, 32 MiB of XML take ten seconds
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestErrorsSayWhatTheServiceMeans(t *testing.T) {
	code := func(name, message string) string {
		return "<Error><Code>" + name + "</Code><Message>" + message + "</Message></Error>"
	}
	for _, c := range []struct {
		status int
		header http.Header
		body   string
		is     error
		want   string
	}{
		{404, nil, code("NoSuchKey", ""), fs.ErrNotExist, "missing: HTTP 404 NoSuchKey"},
		{404, nil, code("NoSuchBucket", ""), fs.ErrNotExist, "missing: HTTP 404 NoSuchBucket"},
		{403, nil, code("AccessDenied", "you"), fs.ErrPermission, "forbidden: HTTP 403 AccessDenied"},
		{403, nil, code("SignatureDoesNotMatch", secret), fs.ErrPermission, "forbidden: HTTP 403 SignatureDoesNotMatch"},
		{403, nil, code("InvalidObjectState", ""), fs.ErrPermission, "forbidden: HTTP 403 InvalidObjectState"},
		{403, nil, code("AccessDenied", "Request has expired"), objects.ErrExpired, "expired: HTTP 403 AccessDenied"},
		{400, nil, code("ExpiredToken", "The provided token"), objects.ErrExpired, "expired: HTTP 400 ExpiredToken"},
		{412, nil, code("PreconditionFailed", ""), objects.ErrReplaced, "replaced by another version: HTTP 412 PreconditionFailed"},
		{416, nil, code("InvalidRange", ""), objects.ErrReplaced, "replaced by another version: HTTP 416 InvalidRange"},
		{301, http.Header{"X-Amz-Bucket-Region": {"eu-west-3"}}, code("PermanentRedirect", ""), nil, "HTTP 301 PermanentRedirect: the bucket is in region eu-west-3"},
		{503, nil, code("SlowDown", ""), nil, "gave up after 1 failures in a row: HTTP 503 SlowDown"},
		{206, http.Header{"Content-Range": {"bytes 3-7/36"}, "Etag": {`"1"`}}, "34567", nil, "the response begins at byte 3, want 2"},
		{206, http.Header{"Content-Range": {"bytes two"}, "Etag": {`"1"`}}, "34567", nil, `the response has Content-Range "bytes two"`},
		{206, http.Header{"Content-Range": {"bytes 2-6/36"}}, "23456", nil, "the service tells no ETag"},
		{200, http.Header{"Etag": {`"1"`}}, "23456", nil, "the response begins at byte 0, want 2"},
	} {
		err := answering(t, c.status, c.header, c.body).ReadAt(t.Context(), objects.Object{Name: "x", Size: 36}, make([]byte, 5), 2)
		if err == nil || !strings.HasPrefix(err.Error(), "objects: read x: "+c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%d %s: got %v, want %s", c.status, c.body, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

func TestMissingCredentialsAreFinal(t *testing.T) {
	c := configured("http://127.0.0.1:1", "")
	tries := 0
	c.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		tries++
		return aws.Credentials{}, fmt.Errorf("asked https://user:%[1]s@sts/?token=%[1]s with /run/token: %[2]w", secret, fs.ErrNotExist)
	})
	b, err := Open(t.Context(), "b", Config(c))
	if err != nil {
		t.Fatal(err)
	}
	client, err := objects.NewClient(b)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Stat(t.Context(), "x")
	if err == nil || !strings.HasPrefix(err.Error(), "objects: stat x: no credentials: asked ") || strings.Contains(err.Error(), secret) || tries != 1 {
		t.Errorf("after %d tries: %v", tries, err)
	}
	if errors.Is(err, fs.ErrNotExist) || !dataset.MayPass(err) {
		t.Errorf("%v: the object counts as missing", err)
	}
}

func TestPublicBucketsAreReadWithoutCredentials(t *testing.T) {
	var asked http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Clone()
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	b, err := Open(t.Context(), "b", Config(configured(server.URL, secret)), Client(pathStyle), Anonymous())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Get(t.Context(), objects.Object{Name: "x"}, 0, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want the service's answer", err)
	}
	if asked == nil || asked.Get("Authorization") != "" {
		t.Errorf("the request has the header %v", asked)
	}
}

func TestServicesThatPreferHTTP2AreReadWithHTTP1(t *testing.T) {
	server := conformance.HTTP2(t)
	c := configured(server.URL, secret)
	c.HTTPClient = transport().WithTransportOptions(server.Trust)
	b, err := Open(t.Context(), "b", Config(c), Client(pathStyle))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Get(t.Context(), objects.Object{Name: "x"}, 0, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want the service's answer", err)
	}
	server.Want(t, "HTTP/1.1")
}

func TestUnreachableServicesAreNamedWithoutTheirURL(t *testing.T) {
	b, err := Open(t.Context(), "b", Config(configured("http://127.0.0.1:1", secret)), Client(pathStyle))
	if err != nil {
		t.Fatal(err)
	}
	client, err := objects.NewClient(b, objects.Retries(0))
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Stat(t.Context(), "x")
	if err == nil || !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "http://") {
		t.Error(err)
	}
}

// The SDK finds the configuration by itself.
func TestOpenUsesTheSDKsChain(t *testing.T) {
	endpoint := fake(t)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL_S3": endpoint,
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	s := service(t, endpoint)
	if err := s.Put(t.Context(), "x", []byte("0123")); err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), "other", Client(pathStyle))
	if err != nil {
		t.Fatal(err)
	}
	client, err := objects.NewClient(b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Stat(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "NoSuchBucket") {
		t.Errorf("got %v, want the answer of the service", err)
	}
	if _, err := Open(t.Context(), ""); err == nil || err.Error() != "s3: Open: want the name of a bucket" {
		t.Error(err)
	}
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	if _, err := Open(t.Context(), "other", Client(pathStyle)); err == nil || err.Error() != `s3: Open("other"): no region: want AWS_REGION, such as us-east-1, or a region in ~/.aws/config` {
		t.Errorf("without a region: %v", err)
	}
}

func TestIdentityNamesServiceAndBucketWithoutCredentials(t *testing.T) {
	for endpoint, want := range map[string]string{
		"":                                   "s3:photos",
		"https://key:secret@s3.example.org/": "s3://s3.example.org/photos",
		"http://127.0.0.1:9000":              "s3://127.0.0.1:9000/photos",
	} {
		c := configured(endpoint, secret)
		if endpoint == "" {
			c.BaseEndpoint = nil
		}
		b, err := Open(t.Context(), "photos", Config(c))
		if err != nil {
			t.Fatal(err)
		}
		client, err := objects.NewClient(b)
		if err != nil {
			t.Fatal(err)
		}
		if got := client.Identity(); got != want {
			t.Errorf("endpoint %q: got %q, want %q", endpoint, got, want)
		}
	}
}

// A page without end would take memory without end.
func TestAPageOfAListingIsBounded(t *testing.T) {
	testenv.Slow(t)
	c := answering(t, 200, nil, `<ListBucketResult><Contents><Key>`+strings.Repeat("a", 33<<20))
	_, err := objects.NewFS(t.Context(), c, "")
	if err == nil || !strings.Contains(err.Error(), "an answer of more than 32 MiB that is no object") || strings.Contains(err.Error(), "gave up") {
		t.Errorf("error %.500v", err)
	}
}

func TestAReadIsNotBoundedAsAPageIs(t *testing.T) {
	const n = 33 << 20
	c := answering(t, 206, http.Header{"Content-Range": {fmt.Sprintf("bytes 0-%d/%d", n-1, n)}, "Etag": {`"1"`}}, strings.Repeat("a", n))
	p := make([]byte, n)
	if err := c.ReadAt(t.Context(), objects.Object{Name: "x", Size: n, Version: `"1"`}, p, 0); err != nil || p[n-1] != 'a' {
		t.Error(err)
	}
}
