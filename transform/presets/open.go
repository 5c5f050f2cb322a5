package presets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/penstock-go/penstock/transform"
)

// Open makes the steps of the model in a folder, and returns the name of the file that says them. The first one counts that
// is there of
//
//   - processor_config.json with an object image_processor, and preprocessor_config.json: see [HuggingFace]
//   - open_clip_config.json: see [OpenCLIP]
//   - config.json of timm, with an object pretrained_cfg or the key architecture: see [Timm]
//
// A preprocessor_config.json that does not name its image processor has that of the model_type in config.json, unless
// [ModelType] says another one. The options are those of the function that reads the file. The name is also there with an
// error of the file's content. Without any of the files the error is [fs.ErrNotExist].
func Open(folder fs.FS, options ...Option) (step transform.Step, file string, err error) {
	var config []byte
	for _, c := range []struct {
		file string
		is   func(o object) bool
		make func(config []byte, options ...Option) (transform.Step, error)
	}{
		{"processor_config.json", func(o object) bool { return o.has("image_processor") }, HuggingFace},
		{"preprocessor_config.json", nil, func(config []byte, options ...Option) (transform.Step, error) {
			return HuggingFace(config, append(modelOf(folder, config), options...)...)
		}},
		{"open_clip_config.json", nil, OpenCLIP},
		{"config.json", func(o object) bool { return o.has("pretrained_cfg") || o.has("architecture") }, Timm},
	} {
		config, err = readConfig(folder, c.file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, c.file, fmt.Errorf("presets: Open: %w", err)
		case c.is == nil || c.is(keysOf(config)):
			step, err = c.make(config, options...)
			return step, c.file, err
		}
	}
	return nil, "", fmt.Errorf("presets: Open: want preprocessor_config.json, processor_config.json with image_processor, "+
		"open_clip_config.json, or a config.json of timm: %w", fs.ErrNotExist)
}

// keysOf is empty if the text is no JSON object. Its errors are nobody's.
func keysOf(config []byte) object { return parseObject(config, new([]error)) }

// modelOf is the ModelType of the config.json in a folder, if the configuration beside it needs one.
func modelOf(folder fs.FS, config []byte) []Option {
	if o := keysOf(config); o.has("image_processor_type") || o.has("feature_extractor_type") {
		return nil
	}
	if name := modelType(folder); name != "" {
		return []Option{ModelType(name)}
	}
	return nil
}

// modelType is that of the config.json in a folder, or "".
func modelType(folder fs.FS) string {
	config, err := readConfig(folder, "config.json")
	if err != nil {
		return ""
	}
	return keysOf(config).word("model_type")
}

// readConfig reads a file of up to 16 MiB.
func readConfig(folder fs.FS, name string) ([]byte, error) {
	const most = 16 << 20
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(text) > most:
		return nil, fmt.Errorf("%s: want a file of up to 16 MiB", name)
	}
	return text, nil
}
