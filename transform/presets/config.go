package presets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/transform"
)

// An object is a JSON object of a model's configuration. Keys are taken out one by one, so that those are left that
// nobody knows. A key whose value is null counts as missing, as in transformers and timm.
type object struct {
	prefix string // of its keys in errors: "size." in the object size
	left   map[string]json.RawMessage
	errs   *[]error // of all objects
}

// parseObject reads the object that is the whole text.
func parseObject(text []byte, errs *[]error) object {
	o := object{errs: errs}
	if err := json.Unmarshal(text, &o.left); err != nil {
		*errs = append(*errs, fmt.Errorf("want a JSON object: %w", err))
	} else if o.left == nil {
		*errs = append(*errs, errors.New("want a JSON object, not null"))
	}
	return o
}

// fail notes what is wrong with a key.
func (o object) fail(key, format string, args ...any) {
	*o.errs = append(*o.errs, fmt.Errorf("key %q: %s", o.prefix+key, fmt.Sprintf(format, args...)))
}

// has reports whether a key has a value.
func (o object) has(key string) bool {
	v, ok := o.left[key]
	return ok && !bytes.Equal(v, []byte("null"))
}

// take removes a key, and reports whether it had a value.
func (o object) take(key string) (json.RawMessage, bool) {
	v, ok := o.left[key], o.has(key)
	delete(o.left, key)
	return v, ok
}

// read takes a value of a type, which errors call want. A missing one is other.
func read[T any](o object, key, want string, other T) T {
	text, ok := o.take(key)
	if !ok {
		return other
	}
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		o.fail(key, "want %s, not %s", want, brief(text))
		return other
	}
	return v
}

func (o object) flag(key string, other bool) bool {
	return read(o, key, "true or false", other)
}

func (o object) number(key string, other float64) float64 {
	return read(o, key, "a number", other)
}

func (o object) word(key string) string { return read(o, key, "a string", "") }

// whole takes a length in pixels. 0 says that it is missing.
func (o object) whole(key string) int {
	text, ok := o.take(key)
	if !ok {
		return 0
	}
	var n int
	if json.Unmarshal(text, &n) != nil || n < 1 || n > maxSide {
		o.fail(key, "want a whole number from 1 to %d, not %s", maxSide, brief(text))
		return 0
	}
	return n
}

// wholeOr is whole with a number for a key that is missing.
func (o object) wholeOr(key string, other int) int {
	if n := o.whole(key); n > 0 {
		return n
	}
	return other
}

// few is wholeOr for numbers that are small.
func (o object) few(key string, other int) int {
	const most = 1 << 10
	n := o.wholeOr(key, other)
	if n > most {
		o.fail(key, "want a whole number from 1 to %d, not %d", most, n)
		return other
	}
	return n
}

// pixels takes a number of pixels.
func (o object) pixels(key string, other int) int {
	const most = 1 << 28
	n := read(o, key, "a whole number", other)
	if n != other && (n < 1 || n > most) {
		o.fail(key, "want 1 to %d pixels, not %d", most, n)
		return other
	}
	return n
}

// mustNot takes a flag that is not supported if it is true.
func (o object) mustNot(key string) {
	if o.flag(key, false) {
		o.fail(key, "true is not supported")
	}
}

// sides takes a height and a width: a list, or one number for both. Zeros say that they are missing.
func (o object) sides(key string) (h, w int) {
	text, ok := o.take(key)
	if !ok {
		return 0, 0
	}
	var list []int
	if err := json.Unmarshal(text, &h); err == nil {
		list = []int{h, h}
	} else if err := json.Unmarshal(text, &list); err != nil {
		list = nil
	}
	if len(list) != 2 || min(list[0], list[1]) < 1 || max(list[0], list[1]) > maxSide {
		o.fail(key, "want height and width from 1 to %d, not %s", maxSide, brief(text))
		return 0, 0
	}
	return list[0], list[1]
}

// colours takes a number per colour, or one for all.
func (o object) colours(key string, other [3]float64) [3]float64 {
	text, ok := o.take(key)
	if !ok {
		return other
	}
	var one float64
	if json.Unmarshal(text, &one) == nil {
		return [3]float64{one, one, one}
	}
	var list []float64
	if json.Unmarshal(text, &list) != nil || len(list) != 3 {
		o.fail(key, "want three numbers or one, not %s", brief(text))
		return other
	}
	return [3]float64(list)
}

// object takes an object, whose keys the caller has to take.
func (o object) object(key string) (object, bool) {
	text, ok := o.take(key)
	if !ok {
		return object{}, false
	}
	inner := object{prefix: o.prefix + key + ".", errs: o.errs}
	if json.Unmarshal(text, &inner.left) != nil {
		o.fail(key, "want an object, not %s", brief(text))
		return object{}, false
	}
	return inner, true
}

// without takes keys that do not change pixels.
func (o object) without(keys ...string) {
	for _, key := range keys {
		delete(o.left, key)
	}
}

// end notes the keys that are left. A null asks for nothing.
func (o object) end() {
	for _, key := range slices.Sorted(maps.Keys(o.left)) {
		if text, ok := o.take(key); ok {
			o.fail(key, "not known (its value is %s)", brief(text))
		}
	}
}

// brief is a value as errors show it.
func brief(text json.RawMessage) string {
	const most = 60
	if len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "…"
	}
	return strings.ToValidUTF8(string(text), "?")
}

// narrow makes numbers float32, as NumPy and torch do.
func narrow(v [3]float64) []float32 {
	return []float32{float32(v[0]), float32(v[1]), float32(v[2])}
}

// maxSide is the longest side that a configuration may ask for.
const maxSide = 1 << 20

var (
	imageNetMean = [3]float64{0.485, 0.456, 0.406}
	imageNetStd  = [3]float64{0.229, 0.224, 0.225}
	halves       = [3]float64{0.5, 0.5, 0.5}
	clipMean     = [3]float64{0.48145466, 0.4578275, 0.40821073}
	clipStd      = [3]float64{0.26862954, 0.26130258, 0.27577711}
)

// filterNamed is the filter of Pillow's name, in lower case.
func filterNamed(name string) (transform.Filter, bool) {
	for f := transform.Bilinear; f <= transform.Hamming; f++ {
		if f.String() == name {
			return f, true
		}
	}
	return transform.Bilinear, false
}
