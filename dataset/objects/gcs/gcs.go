// Package gcs reads objects of a bucket in Google Cloud Storage:
//
//	bucket, err := gcs.Open(ctx, "my-bucket")
//	client, err := objects.NewClient(bucket)
//	fsys, err := objects.NewFS(ctx, client, "train")
//	photos, err := dataset.ImageFolder(fsys)
//
// Google's library finds credentials as in all its programs (application default
// credentials): in the file that GOOGLE_APPLICATION_CREDENTIALS names, in what gcloud has
// stored, or from the machine's service account. They are in no error of this package.
//
// The version of an object is its generation, and every read is of one generation. For
// the meaning of errors see package objects. [objects.Client] tries again, so the library
// does not, except that it asks for the rest of a body that breaks off.
package gcs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"strconv"

	"cloud.google.com/go/storage"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	transport "google.golang.org/api/transport/http"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/internal/connections"
	"github.com/penstock-go/penstock/dataset/objects/internal/response"
)

// A remote is the [objects.Remote] of the objects in a bucket.
type remote struct {
	handle *storage.BucketHandle
	page   int // objects in a page of a listing; 0 leaves it to the service
}

// An Option changes what [Open] makes. The zero Option sets nothing.
type Option struct{ set func(*settings) }

type settings struct {
	client    []option.ClientOption
	transport http.RoundTripper
}

// Client gives options to Google's library, such as option.WithoutAuthentication for a
// public bucket. option.WithHTTPClient is an error: see [Transport].
func Client(options ...option.ClientOption) Option {
	return Option{func(s *settings) { s.client = append(s.client, options...) }}
}

// Transport sends the requests, after credentials were added to them. The default is a
// transport of HTTP/1.1 that keeps as many connections as there are reads at once: with
// HTTP/2 all requests would share a connection, and stall together.
func Transport(t http.RoundTripper) Option { return Option{func(s *settings) { s.transport = t }} }

// Open finds the credentials, and makes the remote of a bucket. It sends nothing to the
// bucket.
func Open(ctx context.Context, bucket string, options ...Option) (objects.Remote, error) {
	var s settings
	for _, option := range options {
		if option.set != nil {
			option.set(&s)
		}
	}
	if bucket == "" {
		return nil, errors.New("gcs: Open: want the name of a bucket")
	}
	client, err := s.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("gcs: Open(%q): %w", bucket, response.Public(err))
	}
	handle := client.Bucket(bucket).Retryer(storage.WithPolicy(storage.RetryNever))
	return &remote{handle: handle}, nil
}

// Identity names the bucket: "gs://my-bucket". A cache needs it.
func (b *remote) Identity() string { return "gs://" + b.handle.BucketName() }

func (s *settings) open(ctx context.Context) (*storage.Client, error) {
	scope := option.WithScopes(storage.ScopeReadOnly)
	credentials := append([]option.ClientOption{scope}, s.client...)
	if os.Getenv("STORAGE_EMULATOR_HOST") != "" { // it has the library ask without credentials
		credentials = append(credentials, option.WithoutAuthentication())
	}
	base := s.transport
	if base == nil {
		base = connections.New()
	}
	authorized, err := transport.NewTransport(ctx, pages{base}, credentials...)
	if err != nil {
		return nil, err
	}
	client := append([]option.ClientOption{scope}, s.client...)
	return storage.NewClient(ctx, append(client, option.WithHTTPClient(&http.Client{Transport: authorized}))...)
}

// pages limits the bytes of answers that the library reads whole.
type pages struct{ http.RoundTripper }

func (p pages) RoundTrip(r *http.Request) (*http.Response, error) {
	return response.Bounded(r, p.RoundTripper.RoundTrip)
}

// CloseIdleConnections lets Close reach the transport.
func (p pages) CloseIdleConnections() {
	(&http.Client{Transport: p.RoundTripper}).CloseIdleConnections()
}

// List yields the objects whose names begin with prefix, sorted by the bytes of their
// names.
func (b *remote) List(ctx context.Context, prefix, after string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		query := storage.Query{Prefix: prefix, StartOffset: after, Projection: storage.ProjectionNoACL}
		if err := query.SetAttrSelection([]string{"Name", "Size", "Generation"}); err != nil {
			yield(objects.Object{}, objects.Permanent(err))
			return
		}
		listing := b.handle.Objects(ctx, &query)
		listing.PageInfo().MaxSize = b.page
		for {
			found, err := listing.Next()
			switch {
			case err == iterator.Done:
				return
			case err != nil:
				yield(objects.Object{}, refused(err))
				return
			case found.Name == after: // StartOffset is the first one
				continue
			}
			if !yield(object(found.Name, found.Size, found.Generation), nil) {
				return
			}
		}
	}
}

func object(name string, size, generation int64) objects.Object {
	return objects.Object{Name: name, Size: size, Version: strconv.FormatInt(generation, 10)}
}

// Get requests n bytes of o from byte off on.
func (b *remote) Get(ctx context.Context, o objects.Object, off, n int64) (io.ReadCloser, objects.Object, error) {
	handle := b.handle.Object(o.Name)
	reading := handle.ReadCompressed(true) // or ranges would be of other bytes
	if o.Version != "" {
		generation, err := strconv.ParseInt(o.Version, 10, 64)
		if err != nil || generation <= 0 {
			return nil, o, objects.Permanent(fmt.Errorf("version %.40q: want a generation", o.Version))
		}
		reading = reading.If(storage.Conditions{GenerationMatch: generation})
	}
	body, err := reading.NewRangeReader(ctx, off, n)
	if err != nil {
		switch {
		case status(err) == http.StatusRequestedRangeNotSatisfiable && off == 0 && o.Size <= 0:
			return empty(ctx, handle)
		case errors.Is(err, storage.ErrObjectNotExist):
			err = b.missing(ctx)
		}
		return nil, o, refused(err)
	}
	at := body.Attrs
	switch {
	case at.StartOffset != off:
		err = fmt.Errorf("the response begins at byte %d, want %d", at.StartOffset, off)
	case at.Generation <= 0:
		err = errors.New("the service tells no generation, so a replaced object would not be noticed")
	}
	if err != nil {
		_ = body.Close() // the error says more
		return nil, o, objects.Permanent(err)
	}
	return body, object(o.Name, at.Size, at.Generation), nil
}

// missing is the error of an object that is missing. A read does not tell whether the
// bucket is missing, too, but a listing does.
func (b *remote) missing(ctx context.Context) error {
	listing := b.handle.Objects(ctx, nil)
	listing.PageInfo().MaxSize = 1
	if _, err := listing.Next(); errors.Is(err, storage.ErrBucketNotExist) {
		return err
	}
	return storage.ErrObjectNotExist
}

// empty is the answer to a request for bytes of an object that has none.
func empty(ctx context.Context, handle *storage.ObjectHandle) (io.ReadCloser, objects.Object, error) {
	at, err := handle.Attrs(ctx)
	if err != nil {
		return nil, objects.Object{}, refused(err)
	}
	return http.NoBody, object(at.Name, at.Size, at.Generation), nil
}
