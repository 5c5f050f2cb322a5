// Package azure reads objects of a container in Azure Blob Storage:
//
//	photos, err := azure.Open("https://myaccount.blob.core.windows.net/photos")
//	client, err := objects.NewClient(photos)
//	fsys, err := objects.NewFS(ctx, client, "train")
//	images, err := dataset.ImageFolder(fsys)
//
// Azure's library finds credentials as in all its programs (DefaultAzureCredential): in
// the environment (AZURE_TENANT_ID, AZURE_CLIENT_ID, …), from the workload's or the
// machine's identity, or in what the programs az and azd have stored. A URL with a shared
// access signature (SAS) needs none, and [SharedKey], [ConnectionString], [Credential] and
// [Anonymous] take their place. Credentials are in no error of this package.
//
// The version of an object is its ETag, and every read is of one version. For the
// meaning of errors see package objects. [objects.Client] tries again, so the library
// does not.
package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/internal/response"
)

// A remote is the [objects.Remote] of the blobs in a container.
type remote struct {
	client  *container.Client
	expires time.Time // of the shared access signature; zero if there is none
	places  sync.Map  // place to the marker of the page that follows it, where listings broke off
	page    int32     // blobs in a page of a listing; 0 leaves it to the service
}

// Open makes the remote of a container. location is its URL, which may have a shared
// access signature as its query:
//
//	https://myaccount.blob.core.windows.net/photos
//	https://myaccount.blob.core.windows.net/photos?sv=…&sig=…
//
// With [ConnectionString] it is the container's name. Open sends nothing to the service.
func Open(location string, options ...Option) (objects.Remote, error) {
	var s settings
	for _, option := range options {
		if option.set != nil {
			option.set(&s)
		}
	}
	client, err := s.open(location)
	if err != nil {
		return nil, fmt.Errorf("azure: Open: %w", response.Public(err))
	}
	c := &remote{client: client}
	if parts, err := blob.ParseURL(client.URL()); err == nil {
		c.expires = parts.SAS.ExpiryTime()
	}
	return c, nil
}

// Identity names the service and the container:
// "az://myaccount.blob.core.windows.net/photos". A cache needs it.
func (c *remote) Identity() string {
	u, err := url.Parse(c.client.URL())
	if err != nil {
		return "" // Open has parsed it
	}
	return "az://" + u.Host + strings.TrimSuffix(u.EscapedPath(), "/")
}

// Get requests n bytes of o from byte off on.
func (c *remote) Get(ctx context.Context, o objects.Object, off, n int64) (io.ReadCloser, objects.Object, error) {
	for part := range strings.SplitSeq(o.Name, "/") {
		if part == "." || part == ".." { // the URL would be that of another blob
			return nil, o, objects.Permanent(errors.New("want a name without . and .. in its path"))
		}
	}
	in := &blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: off, Count: n}}
	if o.Version != "" {
		version := azcore.ETag(o.Version)
		in.AccessConditions = &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: &version}}
	}
	remote := c.client.NewBlobClient(o.Name)
	out, err := remote.DownloadStream(ctx, in)
	if err != nil {
		switch code := status(err); {
		case code == http.StatusRequestedRangeNotSatisfiable && off == 0 && o.Size <= 0:
			return c.empty(ctx, remote, o.Name)
		case code == http.StatusPreconditionFailed:
			// A condition may be compared before it is known whether there is a blob.
			if _, gone := remote.GetProperties(ctx, nil); status(gone) == http.StatusNotFound {
				err = gone
			}
		}
		return nil, o, c.refused(err)
	}
	found, err := accepted(&out, o.Name, off)
	if err != nil {
		_ = out.Body.Close() // the error says more
		return nil, o, err
	}
	return out.Body, found, nil
}

// accepted checks a response to a request for bytes from off on.
func accepted(out *blob.DownloadStreamResponse, name string, off int64) (objects.Object, error) {
	found := object(name, out.ContentLength, out.ETag)
	begin := int64(0)
	if out.ContentRange != nil && found.Size != 0 { // of no bytes, Azurite tells a range that is none
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

// empty is the answer to a request for bytes of a blob that has none.
func (c *remote) empty(ctx context.Context, remote *blob.Client, name string) (io.ReadCloser, objects.Object, error) {
	out, err := remote.GetProperties(ctx, nil)
	if err != nil {
		return nil, objects.Object{}, c.refused(err)
	}
	return http.NoBody, object(name, out.ContentLength, out.ETag), nil
}
