package remote_test

import (
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/remote"
	"github.com/penstock-go/penstock/loader/serve"
	"github.com/penstock-go/penstock/sampler"
)

func TestMemoryIsThatOfTheAllocator(t *testing.T) {
	url := newReplica(t, samples(43), nil, serve.Loader(plan...))
	l := open(t, []string{url}, remote.Loader(loader.Poison(true), loader.Unordered(true)))
	seen := map[int]bool{}
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for row, i := range b.Indices() {
			seen[i] = true
			if got := loader.Values[int64](b, "label")[row]; got != int64(i) {
				t.Errorf("sample %d has label %d", i, got)
			}
		}
	}
	if len(seen) != 43 {
		t.Errorf("%d samples, want 43", len(seen))
	}
}

func TestWrongOptionsAreErrors(t *testing.T) {
	url := newReplica(t, samples(43), nil, serve.Loader(plan...), serve.Token("secret"))
	for want, open := range map[string]func() (*loader.Loader, error){
		"no replicas": func() (*loader.Loader, error) { return remote.Open(t.Context(), nil) },
		`"host:80" is not the URL of a replica: want http://host:port`: func() (*loader.Loader, error) {
			return remote.Open(t.Context(), []string{"host:80"})
		},
		`"127.0.0.1:80" is not the URL of a replica: want http://host:port`: func() (*loader.Loader, error) {
			return remote.Open(t.Context(), []string{"127.0.0.1:80"})
		},
		"Rank(3, 3)": func() (*loader.Loader, error) { return remote.Open(t.Context(), []string{url}, remote.Rank(3, 3)) },
		"needs https": func() (*loader.Loader, error) {
			return remote.Open(t.Context(), []string{"http://far"}, remote.Token("x"))
		},
		"token is missing":    func() (*loader.Loader, error) { return remote.Open(t.Context(), []string{url}) },
		"token is missing or": func() (*loader.Loader, error) { return remote.Open(t.Context(), []string{url}, remote.Token("x")) },
		"Token: the token is empty": func() (*loader.Loader, error) {
			return remote.Open(t.Context(), []string{url}, remote.Token(""))
		},
		"Token: the token begins or ends with": func() (*loader.Loader, error) {
			return remote.Open(t.Context(), []string{url}, remote.Token("secret\n"))
		},
		"OpenWithin(-1ns): want 0 or more": func() (*loader.Loader, error) {
			return remote.Open(t.Context(), []string{url}, remote.OpenWithin(-1))
		},
	} {
		if l, err := open(); err == nil {
			t.Errorf("%s: no error", want)
			l.Close()
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestOptionsThatBelongToTheServiceAreErrors(t *testing.T) {
	url := newReplica(t, samples(43), nil, serve.Loader(plan...))
	for name, o := range map[string]loader.Option{
		"BatchSize(8)":   loader.BatchSize(8),
		"BatchSampler":   loader.BatchSampler(sampler.ByLength(make([]int, 43), 5, sampler.BatchSize(4))),
		"Sampler":        loader.Sampler(sampler.Sequential(43)),
		"Shuffle(true)":  loader.Shuffle(true),
		"Seed(3)":        loader.Seed(3),
		"DropLast(true)": loader.DropLast(true),
		"Skip(3)":        loader.Skip(3),
		"Collate":        loader.Collate(dataset.BatchFunc(func(_, _ dataset.Columns) error { return nil })),
		"Ranks":          loader.Ranks(0, 2, sampler.PadToEven),
	} {
		l, err := remote.Open(t.Context(), []string{url}, remote.Loader(o))
		if err == nil {
			l.Close()
		}
		if want := "loader: " + name + ": belongs to the service"; err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %q alone", err, want)
		}
	}
}
