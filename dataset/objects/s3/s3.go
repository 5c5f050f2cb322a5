// Package s3 reads objects of a bucket in Amazon S3, or in another service with its API:
//
//	bucket, err := s3.Open(ctx, "my-bucket")
//	client, err := objects.NewClient(bucket)
//	fsys, err := objects.NewFS(ctx, client, "train")
//	photos, err := dataset.ImageFolder(fsys)
//
// The AWS SDK finds credentials, region and endpoint as in all its programs: in the
// environment (AWS_ACCESS_KEY_ID, AWS_REGION, AWS_ENDPOINT_URL_S3, …), in the files in
// ~/.aws, or from the machine's role. They are in no error of this package. A bucket that
// everybody may read needs [Anonymous], and its region.
//
// The version of an object is its ETag, and every read is of one version. For the
// meaning of errors see package objects. [objects.Client] tries again, so the SDK does
// not.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/internal/connections"
	"github.com/penstock-go/penstock/dataset/objects/internal/response"
)

// A remote is the [objects.Remote] of the objects in a bucket.
type remote struct {
	name   string
	client *s3.Client
	page   int32 // objects in a page of a listing; 0 leaves it to the service
}

// An Option changes what [Open] makes. The zero Option sets nothing.
type Option struct{ set func(*settings) }

type settings struct {
	config *aws.Config
	client []func(*s3.Options)
}

// Config gives the configuration of the SDK, in place of the one that the SDK finds. Its
// HTTPClient should keep as many connections as there are reads at once: the SDK's own keeps
// ten.
func Config(c aws.Config) Option { return Option{func(s *settings) { s.config = &c }} }

// Client changes the SDK's client. Many services with the API of S3 need
//
//	s3.Client(func(o *awss3.Options) { o.UsePathStyle = true })
func Client(change func(*s3.Options)) Option {
	return Option{func(s *settings) { s.client = append(s.client, change) }}
}

// Anonymous sends requests without credentials, for a bucket that everybody may read.
func Anonymous() Option {
	return Client(func(o *s3.Options) { o.Credentials = aws.AnonymousCredentials{} })
}

// Open finds the configuration, and makes the remote of a bucket. It sends nothing to
// the bucket. It is an error if nothing tells the region, which other services need, too:
// most accept any.
func Open(ctx context.Context, bucket string, options ...Option) (objects.Remote, error) {
	var s settings
	for _, option := range options {
		if option.set != nil {
			option.set(&s)
		}
	}
	if bucket == "" {
		return nil, errors.New("s3: Open: want the name of a bucket")
	}
	if s.config == nil {
		found, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(transport()))
		if err != nil {
			return nil, fmt.Errorf("s3: Open(%q): %w", bucket, response.Public(err))
		}
		s.config = &found
	}
	c := s.config.Copy()
	if c.Credentials != nil && !aws.IsCredentialsProvider(c.Credentials, (*aws.AnonymousCredentials)(nil)) {
		c.Credentials = credentials{c.Credentials}
	}
	client := s3.NewFromConfig(c, slices.Concat([]func(*s3.Options){single}, s.client, []func(*s3.Options){bounded})...)
	if client.Options().Region == "" {
		return nil, fmt.Errorf("s3: Open(%q): no region: want AWS_REGION, such as us-east-1, or a region in ~/.aws/config", bucket)
	}
	return &remote{name: bucket, client: client}, nil
}

// Identity names the bucket, and the service if an endpoint was given: "s3:my-bucket",
// "s3://127.0.0.1:9000/my-bucket". A cache needs it.
func (b *remote) Identity() string {
	if endpoint := b.client.Options().BaseEndpoint; endpoint != nil {
		if u, err := url.Parse(*endpoint); err == nil {
			return "s3://" + u.Host + strings.TrimSuffix(u.EscapedPath(), "/") + "/" + b.name
		}
	}
	return "s3:" + b.name
}

// transport sends requests.
func transport() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(connections.Separate)
}

// single lets the SDK send one request per call. Checksums of whole objects say nothing
// about ranges, and other services than Amazon's may not know them.
func single(o *s3.Options) {
	o.Retryer = aws.NopRetryer{}
	o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
}

// bounded limits the bytes of answers that the SDK reads whole.
func bounded(o *s3.Options) { o.HTTPClient = pages{o.HTTPClient} }

type pages struct{ s3.HTTPClient }

func (p pages) Do(r *http.Request) (*http.Response, error) {
	return response.Bounded(r, p.HTTPClient.Do)
}

// List yields the objects whose names begin with prefix, sorted by the bytes of their
// names.
func (b *remote) List(ctx context.Context, prefix, after string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		in := &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix, EncodingType: types.EncodingTypeUrl} // XML lacks some characters
		if after != "" {
			in.StartAfter = &after
		}
		if b.page > 0 {
			in.MaxKeys = &b.page
		}
		pages := s3.NewListObjectsV2Paginator(b.client, in)
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(objects.Object{}, refused(err))
				return
			}
			for _, o := range page.Contents {
				name := aws.ToString(o.Key)
				if page.EncodingType == types.EncodingTypeUrl {
					if name, err = url.QueryUnescape(name); err != nil {
						yield(objects.Object{}, objects.Permanent(fmt.Errorf("the listing has the name %.200q", aws.ToString(o.Key))))
						return
					}
				}
				if !yield(objects.Object{Name: name, Size: aws.ToInt64(o.Size), Version: aws.ToString(o.ETag)}, nil) {
					return
				}
			}
			if len(page.Contents) == 0 && !yield(objects.Object{}, nil) {
				return
			}
		}
	}
}

// Get requests n bytes of o from byte off on.
func (b *remote) Get(ctx context.Context, o objects.Object, off, n int64) (io.ReadCloser, objects.Object, error) {
	in := &s3.GetObjectInput{Bucket: &b.name, Key: &o.Name, Range: aws.String(fmt.Sprintf("bytes=%d-%d", off, off+n-1))}
	if o.Version != "" {
		in.IfMatch = &o.Version
	}
	out, err := b.client.GetObject(ctx, in)
	if err != nil {
		if status(err) == http.StatusRequestedRangeNotSatisfiable && off == 0 && o.Size <= 0 {
			return b.empty(ctx, o)
		}
		return nil, o, refused(err)
	}
	found, err := accepted(out, o.Name, off)
	if err != nil {
		_ = out.Body.Close() // the error says more
		return nil, o, err
	}
	return out.Body, found, nil
}

// accepted checks a response to a request for bytes from off on.
func accepted(out *s3.GetObjectOutput, name string, off int64) (objects.Object, error) {
	found := objects.Object{Name: name, Size: aws.ToInt64(out.ContentLength), Version: aws.ToString(out.ETag)}
	begin := int64(0)
	if out.ContentRange != nil {
		sent, err := response.ContentRange(*out.ContentRange)
		if err != nil {
			return found, err
		}
		begin, found.Size = sent.Begin, sent.Size
	}
	switch {
	case begin != off:
		return found, objects.Permanent(fmt.Errorf("the response begins at byte %d, want %d", begin, off))
	case found.Version == "":
		return found, objects.Permanent(errors.New("the service tells no ETag, so a replaced object would not be noticed"))
	}
	return found, nil
}

// empty is the answer to a request for bytes of an object that has none.
func (b *remote) empty(ctx context.Context, o objects.Object) (io.ReadCloser, objects.Object, error) {
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &o.Name})
	if err != nil {
		return nil, o, refused(err)
	}
	return http.NoBody, objects.Object{Name: o.Name, Size: aws.ToInt64(out.ContentLength), Version: aws.ToString(out.ETag)}, nil
}
