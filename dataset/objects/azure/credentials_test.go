package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/penstock-go/penstock/dataset/objects"
)

// authority answers as the service that gives tokens does, and as the storage.
type authority struct {
	refuses  int // status of the answer to a request for a token; 0 gives one
	requests []string
}

func (a *authority) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	a.requests = append(a.requests, r.Method+" "+r.URL.Host)
	switch {
	case strings.HasSuffix(r.URL.Path, "/openid-configuration"):
		host := "https://" + r.URL.Host + "/tenant"
		fmt.Fprintf(w, `{"token_endpoint":%q,"authorization_endpoint":%q,"issuer":%q}`, host+"/oauth2/v2.0/token", host+"/authorize", host)
	case strings.HasSuffix(r.URL.Path, "/token") && a.refuses > 0:
		w.WriteHeader(a.refuses)
		fmt.Fprintf(w, `{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided: %s"}`, secret)
	case strings.HasSuffix(r.URL.Path, "/token"):
		fmt.Fprintf(w, `{"access_token":%q,"expires_in":3600,"token_type":"Bearer"}`, secret)
	case r.Header.Get("Authorization") != "Bearer "+secret:
		w.WriteHeader(http.StatusForbidden)
	default:
		w.Header().Set("Content-Range", "bytes 0-0/36")
		w.Header().Set("ETag", `"1"`)
		w.WriteHeader(http.StatusPartialContent)
		w.WriteString("0")
	}
	answer := w.Result()
	answer.Request = r
	return answer, nil
}

// Azure's library finds the credentials by itself.
func TestOpenUsesTheUsualChain(t *testing.T) {
	for _, c := range []struct {
		refuses int
		tenant  string
		want    string
	}{
		{0, "tenant", ""},
		{401, "tenant", "objects: stat x: no credentials: ClientSecretCredential: the service that gives tokens answers HTTP 401 AADSTS7000215"},
		{0, "", "objects: stat x: no credentials: DefaultAzureCredential: failed to acquire a token. Attempted credentials: EnvironmentCredential: missing environment variable AZURE_TENANT_ID"},
	} {
		for name, value := range map[string]string{
			"AZURE_TENANT_ID": c.tenant, "AZURE_CLIENT_ID": "client", "AZURE_CLIENT_SECRET": secret,
			"AZURE_AUTHORITY_HOST": "https://login.microsoftonline.com/", "AZURE_TOKEN_CREDENTIALS": "EnvironmentCredential",
		} {
			t.Setenv(name, value)
		}
		a := &authority{refuses: c.refuses}
		o, err := client(t, "https://myaccount.blob.core.windows.net/photos", through(a)).Stat(t.Context(), "x")
		if c.want == "" && (err != nil || o.Size != 36) || c.want != "" && fmt.Sprint(err) != c.want {
			t.Errorf("got  %v, after requests %v\nwant %s", err, a.requests, c.want)
		}
	}
}

// failing is a credential that gives no token.
type failing struct {
	err   error
	tries *int
}

func (f failing) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	*f.tries++
	return azcore.AccessToken{}, f.err
}

func TestMissingCredentialsAreFinal(t *testing.T) {
	tries := 0
	err := errors.New("asked https://user:" + secret + "@sts/?token=" + secret + "\n\tTo troubleshoot, visit https://aka.ms/azsdk")
	remote, err := Open("https://127.0.0.1:1/photos", Credential(failing{err, &tries}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := objects.NewClient(remote)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Stat(t.Context(), "x")
	if err == nil || !strings.HasPrefix(err.Error(), "objects: stat x: no credentials: asked ") || strings.Contains(err.Error(), secret) || strings.ContainsAny(err.Error(), "\n?") || tries != 1 {
		t.Errorf("after %d tries: %v", tries, err)
	}
}

// The service that gives tokens may be busy.
func TestRefusedTokensAreFinalUnlessThatMayPass(t *testing.T) {
	for status, want := range map[int]string{
		400: "objects: stat x: no credentials: the service that gives tokens answers HTTP 400",
		429: "objects: stat x: gave up after 1 failures in a row: no credentials: the service that gives tokens answers HTTP 429",
		503: "objects: stat x: gave up after 1 failures in a row: no credentials: the service that gives tokens answers HTTP 503",
	} {
		tries := 0
		answer := &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(secret))}
		refused := failing{&azidentity.AuthenticationFailedError{RawResponse: answer}, &tries}
		if _, err := client(t, "https://127.0.0.1:1/photos", Credential(refused)).Stat(t.Context(), "x"); fmt.Sprint(err) != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestTokensAreNotSentWithoutTLS(t *testing.T) {
	tries := 0
	_, err := client(t, "http://127.0.0.1:1/photos", Credential(failing{nil, &tries})).Stat(t.Context(), "x")
	if err == nil || !strings.Contains(err.Error(), "TLS") || strings.Contains(err.Error(), "gave up") || tries != 0 {
		t.Errorf("after %d tries: %v", tries, err)
	}
}
