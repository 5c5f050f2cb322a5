package azure

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/penstock-go/penstock/dataset/objects/internal/connections"
	"github.com/penstock-go/penstock/dataset/objects/internal/response"
)

// An Option changes what [Open] makes. The zero Option sets nothing.
type Option struct{ set func(*settings) }

type settings struct {
	client []func(*container.ClientOptions)
	access []access
}

// access makes a client with some kind of credentials.
type access func(location string, o *container.ClientOptions) (*container.Client, error)

func credentialed(a access) Option {
	return Option{func(s *settings) { s.access = append(s.access, a) }}
}

// Client changes the options of Azure's library, such as Transport, which sends the
// requests and gets the tokens. The default is one of HTTP/1.1 that keeps as many
// connections as there are reads at once: with HTTP/2 all requests would share a
// connection, and stall together.
func Client(change func(*container.ClientOptions)) Option {
	return Option{func(s *settings) { s.client = append(s.client, change) }}
}

// Credential gets the tokens from a credential of package azidentity or another one, in
// place of the usual ones. The service takes tokens over HTTPS only.
func Credential(c azcore.TokenCredential) Option {
	return credentialed(func(location string, o *container.ClientOptions) (*container.Client, error) {
		return container.NewClient(location, tokens{c}, o)
	})
}

// SharedKey signs requests with a key of the storage account.
func SharedKey(account, key string) Option {
	return credentialed(func(location string, o *container.ClientOptions) (*container.Client, error) {
		c, err := container.NewSharedKeyCredential(account, key)
		if err != nil || account == "" || key == "" {
			return nil, errors.New("SharedKey: want the name of an account and a key in base64")
		}
		return container.NewClientWithSharedKeyCredential(location, c, o)
	})
}

// ConnectionString takes service and credentials from a connection string, as the portal
// shows it: "DefaultEndpointsProtocol=https;AccountName=…;AccountKey=…". It may have a
// SharedAccessSignature in place of the key.
func ConnectionString(text string) Option {
	return credentialed(func(name string, o *container.ClientOptions) (*container.Client, error) {
		if name == "" || strings.ContainsAny(name, "/?") {
			return nil, errors.New("with ConnectionString: want the name of a container")
		}
		c, err := container.NewClientFromConnectionString(text, name, o)
		if err != nil {
			return nil, errors.New("ConnectionString: want an account with a key or a shared access signature")
		}
		return c, nil
	})
}

// Anonymous sends requests without credentials, for a container that everybody may read.
func Anonymous() Option { return credentialed(unsigned) }

func unsigned(location string, o *container.ClientOptions) (*container.Client, error) {
	return container.NewClientWithNoCredential(location, o)
}

// usual finds credentials as all programs with Azure's library do.
func usual(location string, o *container.ClientOptions) (*container.Client, error) {
	chain := azidentity.DefaultAzureCredentialOptions{ClientOptions: o.ClientOptions}
	chain.Retry = policy.RetryOptions{} // it knows how often to ask for a token
	c, err := azidentity.NewDefaultAzureCredential(&chain)
	if err != nil {
		return nil, noToken(err)
	}
	return container.NewClient(location, tokens{c}, o)
}

func (s *settings) open(location string) (*container.Client, error) {
	o := &container.ClientOptions{}
	o.Transport = transport()
	o.Retry = policy.RetryOptions{MaxRetries: -1} // one request per call
	for _, change := range s.client {
		change(o)
	}
	o.Transport = pages{o.Transport}
	o.PerCallPolicies = append(o.PerCallPolicies, uncompressed{})
	given := s.access
	if parts, err := blob.ParseURL(location); err == nil && parts.SAS.Signature() != "" {
		given = append(given, unsigned)
	}
	open := access(usual)
	switch len(given) {
	case 0:
	case 1:
		open = given[0]
	default:
		return nil, errors.New("want one of a shared access signature, Credential, SharedKey, ConnectionString and Anonymous")
	}
	client, err := open(location, o)
	if err != nil {
		return nil, err
	}
	return client, checkURL(client.URL())
}

const wantURL = "want the URL of a container, such as https://myaccount.blob.core.windows.net/photos"

// checkURL refuses what is no URL of a container. Its error does not show it.
func checkURL(location string) error {
	u, err := url.Parse(location)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return errors.New(wantURL)
	}
	name := strings.Trim(u.Path, "/")
	if name == "" || strings.Contains(name, "/") && strings.Contains(u.Host, ".blob.") {
		return errors.New(wantURL)
	}
	return nil
}

// transport sends requests. A redirect is an error, because the next server would be told the
// query with the signature.
func transport() *http.Client {
	return &http.Client{Transport: connections.New(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// pages limits the bytes of answers that the library reads whole.
type pages struct{ policy.Transporter }

func (p pages) Do(r *http.Request) (*http.Response, error) {
	return response.Bounded(r, p.Transporter.Do)
}

// uncompressed asks for the bytes of a blob as they are stored. Otherwise package net/http
// asks for compressed ones, and decompresses a blob that was stored so.
type uncompressed struct{}

func (uncompressed) Do(r *policy.Request) (*http.Response, error) {
	r.Raw().Header.Set("Accept-Encoding", "identity")
	return r.Next()
}

// tokens are those of a credential, which has tried several times if it fails.
type tokens struct{ azcore.TokenCredential }

func (t tokens) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := t.TokenCredential.GetToken(ctx, o)
	if err != nil && ctx.Err() == nil {
		return token, noToken(err)
	}
	return token, err
}
