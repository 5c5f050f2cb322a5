package objects_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/dataset/objects/prefetch"
)

// A program may print anything, for example where it logs its settings.
func TestNothingThatIsPrintedHasCredentials(t *testing.T) {
	server, err := objects.HTTP("http://the-user:the-password@127.0.0.1:1/photos?sig=the-signature",
		objects.Header("Authorization", "Bearer the-token"), objects.Listing(objects.Object{Name: "cat/1.jpg", Size: -1}))
	if err != nil {
		t.Fatal(err)
	}
	client, err := objects.NewClient(server, objects.Retries(0))
	if err != nil {
		t.Fatal(err)
	}
	ahead, err := prefetch.New(client)
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := objects.NewFS(t.Context(), ahead, "")
	if err != nil {
		t.Fatal(err)
	}
	photos, err := dataset.ImageFolder(fsys)
	if err != nil {
		t.Fatal(err)
	}
	_, refused := dataset.At(t.Context(), photos, 0)
	if refused == nil {
		t.Error("a server that is not there: no error")
	}
	values := map[string]any{"Server": server, "Client": client, "Prefetcher": ahead, "FS": fsys, "ImageFolder": photos, "error": refused}
	if blocks, err := cache.New(client, t.TempDir(), 1<<30); err == nil { // some systems cannot have one
		defer blocks.Close()
		values["Cache"] = blocks
	}
	for name, value := range values {
		var text bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			fmt.Fprintf(&text, verb+"\n", value)
		}
		slog.New(slog.NewTextHandler(&text, nil)).Info("text", "value", value)
		slog.New(slog.NewJSONHandler(&text, nil)).Info("JSON", "value", value)
		for _, secret := range []string{"the-user", "the-password", "the-signature", "the-token"} {
			if strings.Contains(text.String(), secret) {
				t.Errorf("%s: the text shows %s:\n%s", name, secret, &text)
			}
		}
	}
	if got, want := fmt.Sprint(server, client), "http://127.0.0.1:1/photos/ http://127.0.0.1:1/photos/"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
