package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// This file writes steps and settings as JSON, and reads them: {"version": 1, "steps": [{"Resize": {"size": 256}}]}.
// forms.go has the table of them.

const (
	jsonVersion = 1
	maxSteps    = 1000    // in a list, those within others counted
	maxDepth    = 8       // of steps within steps
	maxWork     = 1 << 20 // calls that the sizes after steps within RandomOrders take
)

// A form is how a step or a setting is written: the name of its kind, and its arguments by name.
type form struct {
	*Kind
	keys    []key
	setting bool
	nests   bool // it has other steps, under "transforms"
}

// names are the keys of a form.
func (f *form) names() string {
	var all []string
	for _, k := range f.keys {
		all = append(all, k.name)
	}
	if f.nests {
		all = append(all, "transforms")
	}
	if all == nil {
		return "none"
	}
	return strings.Join(slices.Compact(all), ", ")
}

// A key is an argument, or some of several.
type key struct {
	name string
	of   *Kind // the option whose arguments these are; nil: they are the step's own; titles: its text
	codec
	usual string // what is meant where the key is missing. "": a step's own arguments must be there, and an option is not
}

// A codec is a kind of values. Those that are read are as [parse] returns them.
type codec struct {
	want  string
	takes int // arguments; 0: all that are left
	read  func(v any) (args []any, ok bool)
	write func(args []any) any // nil: they have no name. Without the function the value is not written
}

// formOf is the row of a kind, or nil.
func formOf(is func(f *form) bool) *form {
	if i := slices.IndexFunc(forms, func(f form) bool { return is(&f) }); i >= 0 {
		return &forms[i]
	}
	return nil
}

// IsSetting reports whether a call that [Decode] has made is a setting.
func (c *Call) IsSetting() bool {
	return formOf(func(f *form) bool { return f.Kind == c.Kind && f.setting }) != nil
}

// mistakes are those of a list, each with its place.
type mistakes []error

func (m *mistakes) at(place string, err error) {
	if err = within(place, err); err != nil {
		*m = append(*m, err)
	}
}

// Encode writes steps and settings. The error joins everything that is wrong.
func Encode(list []*Call) ([]byte, error) {
	var m mistakes
	text, err := json.Marshal(struct {
		Version int   `json:"version"`
		Steps   []any `json:"steps"`
	}{jsonVersion, m.written("steps", list)})
	return text, errors.Join(append(m, err)...)
}

// written are steps as package json takes them.
func (m *mistakes) written(place string, list []*Call) []any {
	all := make([]any, len(list))
	for i, c := range list {
		at := fmt.Sprintf("%s[%d]", place, i)
		if c == nil || c.Kind == nil {
			m.at(at, errors.New("a step is nil"))
			continue
		}
		f := formOf(func(f *form) bool { return f.Kind == c.Kind })
		if f == nil {
			m.at(at, fmt.Errorf("%v: has a function, which JSON cannot hold", c))
			continue
		}
		at += "." + c.name
		m.at(at, c.mistake)
		args := m.writtenArgs(at, f, c)
		if f.nests {
			args["transforms"] = m.written(at+".transforms", c.steps)
		}
		all[i] = map[string]any{c.name: args}
	}
	return all
}

// writtenArgs are the arguments of a call.
func (m *mistakes) writtenArgs(place string, f *form, c *Call) map[string]any {
	left := map[*Kind][]any{nil: c.Args, titles: {Text(c.text)}}
	for _, o := range c.options {
		left[o.Kind] = o.Args
	}
	all := map[string]any{}
	for _, k := range f.keys {
		args, given := left[k.of]
		if !given || k.write == nil {
			continue
		}
		n := k.takes
		if n == 0 {
			n = len(args)
		}
		v := k.write(args[:n:n])
		text, err := json.Marshal(v)
		if v == nil {
			err = errors.New("a value that has no name")
		}
		m.at(place+"."+k.name, err)
		all[k.name], left[k.of] = json.RawMessage(text), args[n:]
	}
	return all
}

// Decode reads steps and settings. The error joins everything that is wrong.
func Decode(data []byte) ([]*Call, error) {
	v, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("steps: %w", err)
	}
	whole, ok := v.(map[string]any)
	steps, given := whole["steps"]
	if version, _ := wholeOf(whole["version"]); !ok || !given || version != jsonVersion || len(whole) > 2 {
		return nil, fmt.Errorf(`steps: want {"version": %d, "steps": […]}`, jsonVersion)
	}
	var r reader
	list, _ := r.list("steps", steps, 0)
	return list, errors.Join(r.mistakes...)
}

// parse reads a value, whose numbers stay as they are written.
func parse(data []byte) (v any, err error) {
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil { // which sees what follows the value, too
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// brief is how mistakes show a value.
func brief(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%.40q", v)
	}
	return fmt.Sprintf("%.40v", v)
}

type reader struct {
	steps int
	mistakes
}

// list reads steps, those within another one if depth is above 0. Work is how many calls it takes to find the size after them.
func (r *reader) list(place string, v any, depth int) (list []*Call, work int) {
	elements, ok := v.([]any)
	if !ok {
		r.at(place, errors.New("want a list of steps"))
	}
	if depth > maxDepth {
		r.at(place, fmt.Errorf("want at most %d steps within each other", maxDepth))
		return nil, 0
	}
	for i, v := range elements {
		if r.steps++; r.steps > maxSteps {
			r.at(place, fmt.Errorf("want at most %d steps", maxSteps))
			return nil, 0
		}
		c, n := r.call(fmt.Sprintf("%s[%d]", place, i), v, depth)
		list, work = append(list, c), min(work+n, maxWork)
	}
	return list, work
}

// call reads a step or a setting. It is nil after a mistake.
func (r *reader) call(place string, v any, depth int) (c *Call, work int) {
	step, ok := v.(map[string]any)
	if !ok || len(step) != 1 {
		r.at(place, errors.New(`want a step, such as {"Resize": {"size": 256}}`))
		return nil, 0
	}
	for name, v := range step {
		f := formOf(func(f *form) bool { return f.name == name })
		given, ok := v.(map[string]any)
		switch {
		case slices.Contains(functions, name):
			r.at(place, fmt.Errorf("%s has a function, which JSON cannot hold", name))
		case f == nil:
			r.at(place, fmt.Errorf("no step is named %.40q", name))
		case f.setting && depth > 0:
			r.at(place, fmt.Errorf("want a step: %s is a setting of the whole list", name))
		case !ok:
			r.at(place+"."+name, fmt.Errorf("want an object of arguments, not %s", brief(v)))
		default:
			return r.named(place+"."+name, f, given, depth)
		}
	}
	return nil, 0
}

// named reads the arguments of a step or a setting.
func (r *reader) named(place string, f *form, given map[string]any, depth int) (c *Call, work int) {
	before, steps, work := len(r.mistakes), []*Call(nil), 1
	args, options, title := r.arguments(place, f, given)
	if f.nests {
		steps, work = r.list(place+".transforms", given["transforms"], depth+1)
		delete(given, "transforms")
	}
	if f.Kind == RandomOrder { // any of its steps may be the last one
		if work *= len(steps); work >= maxWork {
			r.at(place, errors.New("want fewer steps in RandomOrders within each other"))
		}
	}
	if names := slices.Sorted(maps.Keys(given)); names != nil {
		r.at(place, fmt.Errorf("no argument %.40q: want %s", names[0], f.names()))
	}
	if len(r.mistakes) > before {
		return nil, 0
	}
	if c = New(f.Kind, options, args...); f.nests {
		c = With(f.Kind, steps, options, args...).Named(title)
	}
	r.at(place, c.mistake)
	return c, work + 1
}

// arguments reads those of a step, and removes them from given.
func (r *reader) arguments(place string, f *form, given map[string]any) (args []any, options []*Call, title string) {
	asked, of := map[*Kind]bool{nil: true, titles: true}, map[*Kind]*Call{}
	for _, k := range f.keys {
		_, ok := given[k.name]
		asked[k.of] = asked[k.of] || ok
	}
	for i := 0; i < len(f.keys); i++ {
		k := f.keys[i]
		if !asked[k.of] {
			continue
		}
		v, there := given[k.name]
		if !there && k.usual != "" {
			v, _ = parse([]byte(k.usual))
		}
		values, ok := k.read(v)
		if i+1 < len(f.keys) && f.keys[i+1].name == k.name { // another option with the same name
			if i++; !ok {
				k.of, k.want = f.keys[i].of, k.want+" or "+f.keys[i].want
				values, ok = f.keys[i].read(v)
			}
		}
		delete(given, k.name)
		switch {
		case !ok && !there:
			r.at(place+"."+k.name, fmt.Errorf("want %s", k.want))
		case !ok:
			r.at(place+"."+k.name, fmt.Errorf("want %s, not %s", k.want, brief(v)))
		case k.of == titles:
			title = string(values[0].(Text))
		case k.of == nil:
			args = append(args, values...)
		case of[k.of] != nil:
			of[k.of].Args = append(of[k.of].Args, values...)
		case values != nil:
			of[k.of] = New(k.of, nil, values...)
			options = append(options, of[k.of])
		}
	}
	return args, options, title
}
