package azure

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/penstock-go/penstock/dataset/objects"
)

// A place is where a listing of a prefix has come to.
type place struct{ prefix, after string }

// List yields the blobs whose names begin with prefix, in the order of the service. The
// folders of an account with a hierarchical namespace are left out.
//
// The service goes on with a listing only where a page begins. The container remembers
// that for a listing that breaks off. A listing after any other object begins anew and
// leaves out what comes first, and it is an error if the object is no longer listed.
func (c *remote) List(ctx context.Context, prefix, after string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		in := &container.ListBlobsFlatOptions{Prefix: &prefix}
		if c.page > 0 {
			in.MaxResults = &c.page
		}
		last, skipping := after, after != ""
		if known, ok := c.places.LoadAndDelete(place{prefix, after}); ok {
			in.Marker, skipping = known.(*string), false
		}
		marker := in.Marker
		pages := c.client.NewListBlobsFlatPager(in)
		for pages.More() {
			page, err := pages.NextPage(ctx)
			if err == nil && page.Segment == nil {
				err = errors.New("the response is not a listing")
			}
			if err != nil {
				if marker != nil && !skipping {
					c.places.Store(place{prefix, last}, marker)
				}
				yield(objects.Object{}, c.refused(err))
				return
			}
			marker = page.NextMarker
			some := false
			for _, item := range page.Segment.BlobItems {
				o, isFolder := listed(item)
				switch {
				case isFolder:
					continue
				case skipping:
					skipping = o.Name != after
					continue
				}
				if some, last = true, o.Name; !yield(o, nil) {
					return
				}
			}
			if !some && !yield(objects.Object{}, nil) {
				return
			}
		}
		if skipping {
			yield(objects.Object{}, objects.Permanent(fmt.Errorf("the listing cannot go on after %.200q, which is no longer there", after)))
		}
	}
}

// listed is an entry of a listing, and whether it is a folder.
func listed(item *container.BlobItem) (o objects.Object, isFolder bool) {
	name := ""
	if item.Name != nil {
		name = *item.Name
	}
	at := item.Properties
	if at == nil {
		return objects.Object{Name: name, Size: -1}, false
	}
	return object(name, at.ContentLength, at.ETag), at.ResourceType != nil && *at.ResourceType == "directory"
}

// object is a blob with what the service tells of it. Listings tell an ETag without its
// quotes.
func object(name string, size *int64, tag *azcore.ETag) objects.Object {
	o := objects.Object{Name: name, Size: -1}
	if size != nil {
		o.Size = *size
	}
	if tag != nil && *tag != "" {
		o.Version = string(*tag)
		if !strings.HasSuffix(o.Version, `"`) {
			o.Version = `"` + o.Version + `"`
		}
	}
	return o
}
