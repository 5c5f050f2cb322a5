// Package texts makes rows of tokens of the project's own texts, mixed from two sources.
package texts

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/tokens"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

const (
	End    = 256 // the token after a text; the others are bytes
	Length = 64  // tokens of a row
	Rows   = 8   // of a batch
)

// New makes a loader of batches. Of four rows three are of docs, and one is of pages. The texts are in the folder dir, and
// their tokens are written into the folder out, once.
func New(ctx context.Context, dir, out string, options ...loader.Option) (*loader.Loader, error) {
	docs, err := rows(ctx, dir, "docs/*.md", filepath.Join(out, "docs"))
	if err != nil {
		return nil, err
	}
	pages, err := rows(ctx, dir, "*.md", filepath.Join(out, "pages"))
	if err != nil {
		return nil, err
	}
	all, err := dataset.Concat(docs, pages)
	if err != nil {
		return nil, err
	}
	order, err := sampler.Mix([]sampler.Source{
		{Samples: docs.Len(), Sampler: sampler.Shuffle(docs.Len(), 1)},
		{Samples: pages.Len(), Sampler: sampler.Shuffle(pages.Len(), 2)},
	}, sampler.Stage{Proportions: []int{3, 1}, AllExhausted: true})
	if err != nil {
		return nil, err
	}
	return loader.New(all, append(options, loader.BatchSize(Rows), loader.Sampler(order), loader.DropLast(true))...)
}

// rows are the texts of some files, packed into rows.
func rows(ctx context.Context, dir, pattern, path string) (dataset.Dataset, error) {
	if _, err := os.Stat(path + ".bin"); err != nil {
		if err := write(ctx, os.DirFS(dir), pattern, path); err != nil {
			return nil, fmt.Errorf("folder %s: %w", dir, err)
		}
	}
	f, err := tokens.Open(os.DirFS(filepath.Dir(path)), filepath.Base(path)+".idx")
	if err != nil {
		return nil, err
	}
	lengths, err := f.Lengths(ctx)
	if err != nil {
		return nil, err
	}
	return tokens.Pack(f, lengths, Length, tokens.Wrap, tokens.Shifted(), tokens.Order(sampler.Shuffle(f.Len(), 1)),
		tokens.Fields("input_ids", "position_ids", "segment_ids", "labels", "loss_mask"))
}

// write makes a text of every paragraph.
func write(ctx context.Context, fsys fs.FS, pattern, path string) error {
	names, err := fs.Glob(fsys, pattern)
	if err != nil || len(names) == 0 {
		return fmt.Errorf("no %s", pattern)
	}
	w, err := tokens.Create(ctx, path, dataset.Uint16, pattern)
	if err != nil {
		return err
	}
	defer w.Close()
	for k := w.Next(); k < len(names); k++ { // a run that was killed has written those before
		content, err := fs.ReadFile(fsys, names[k])
		if err != nil {
			return err
		}
		var texts [][]int32
		for paragraph := range strings.SplitSeq(string(content), "\n\n") {
			text := make([]int32, 0, len(paragraph)+1)
			for _, b := range []byte(paragraph) {
				text = append(text, int32(b))
			}
			texts = append(texts, append(text, End))
		}
		if err := w.Append(k+1, texts...); err != nil {
			return err
		}
	}
	return w.Finish()
}
