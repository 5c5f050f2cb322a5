package dataset_test

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/classic"
	"github.com/penstock-go/penstock/dataset/coco"
	"github.com/penstock-go/penstock/dataset/csv"
	"github.com/penstock-go/penstock/dataset/idx"
	"github.com/penstock-go/penstock/dataset/masks"
	"github.com/penstock-go/penstock/dataset/npy"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/voc"
	"github.com/penstock-go/penstock/dataset/volume"
)

func TestWritingANilDatasetIsAnError(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	tar := filepath.Join(dir, "%d.tar")
	for _, c := range []struct {
		err  error
		want string
	}{
		{npy.Write(ctx, io.Discard, nil, "x"), "npy: the dataset is nil"},
		{npy.WriteNpz(ctx, io.Discard, nil), "npy: the dataset is nil"},
		{idx.Write(ctx, io.Discard, nil, "x"), "idx: the dataset is nil"},
		{packed.Write(ctx, io.Discard, nil), "packed: write: the dataset is nil"},
		{packed.WriteRaw(ctx, io.Discard, nil), "packed: write: the dataset is nil"},
		{packed.WriteItems(ctx, dir, nil), "packed: write: the dataset is nil"},
		{shards.WriteTar(ctx, tar, nil, nil), "shards: write " + tar + ": the dataset is nil"},
	} {
		if got := fmt.Sprint(c.err); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// Of all formats.
func TestNilFileSystemsAreErrors(t *testing.T) {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Int8}}
	for want, open := range map[string]func() error{
		"classic: CIFAR-10: the file system is nil":              func() error { _, err := classic.CIFAR10(nil, classic.Train); return err },
		"classic: CIFAR-100: the file system is nil":             func() error { _, err := classic.CIFAR100(nil, classic.Train); return err },
		"classic: MNIST: the file system is nil":                 func() error { _, err := classic.MNIST(nil, classic.Train); return err },
		"classic: EMNIST: the file system is nil":                func() error { _, err := classic.EMNIST(nil, "letters", classic.Train); return err },
		"npy: read x: the file system is nil":                    func() error { _, err := npy.Open(nil, "x", "x"); return err },
		"npy: read x.npz: the file system is nil":                func() error { _, err := npy.OpenNpz(nil, "x.npz", nil); return err },
		"npy: the file system is nil":                            func() error { _, err := npy.Items(nil, "*.npy", "x"); return err },
		"idx: read x: the file system is nil":                    func() error { _, err := idx.Open(nil, "x", "x"); return err },
		"csv: read x: the file system is nil":                    func() error { _, err := csv.Open(nil, "x", []csv.Column{csv.Text("a", "b")}); return err },
		"packed: read x: the file system is nil":                 func() error { _, err := packed.Open(nil, "x"); return err },
		"packed: read x.raw: the file system is nil":             func() error { _, err := packed.OpenRaw(nil, "x.raw", spec); return err },
		"packed: the file system is nil":                         func() error { _, err := packed.Items(nil, "*.raw", spec); return err },
		"coco: read x.json: the file system is nil":              func() error { _, err := coco.Open(nil, "x.json"); return err },
		"voc: read ImageSets/Main/x.txt: the file system is nil": func() error { _, err := voc.Detection(nil, "x"); return err },
		"masks: the file system is nil":                          func() error { _, err := masks.Open(nil, nil); return err },
		"volume: Open: the file system is nil":                   func() error { _, err := volume.Open(nil, volume.Scan("ct", "{patient}.nrrd")); return err },
		"volume: read folder: the file system is nil":            func() error { _, err := volume.Read(nil, "folder", 0); return err },
		"volume: read x.nrrd: the file system is nil":            func() error { _, err := volume.ReadHeader(nil, "x.nrrd"); return err },
	} {
		if got := fmt.Sprint(open()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
