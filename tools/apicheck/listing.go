package main

import (
	"fmt"
	"go/types"
	"strings"
)

// listing returns one line per exported name of a package: the package's path, then the name as Go
// declares it.
func listing(pkg *types.Package) []string {
	l := lister{pkg: pkg}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		obj := scope.Lookup(name)
		if !obj.Exported() {
			continue
		}
		switch obj := obj.(type) {
		case *types.TypeName:
			l.typeName(obj)
		case *types.Const:
			l.add("const %s %s = %s", name, l.text(obj.Type()), obj.Val())
		default:
			l.add("%s", types.ObjectString(obj, l.qualifier))
		}
	}
	return l.lines
}

type lister struct {
	pkg   *types.Package
	lines []string
}

func (l *lister) add(format string, args ...any) {
	l.lines = append(l.lines, l.pkg.Path()+": "+fmt.Sprintf(format, args...))
}

// qualifier leaves out the package's own path, and writes the paths of other packages in full.
func (l *lister) qualifier(p *types.Package) string {
	if p == l.pkg {
		return ""
	}
	return p.Path()
}

func (l *lister) text(t types.Type) string { return types.TypeString(t, l.qualifier) }

// typeName lists a type with its exported fields and methods. It does not name unexported ones, because
// they may change freely.
func (l *lister) typeName(obj *types.TypeName) {
	name := obj.Name()
	if obj.IsAlias() {
		l.add("type %s = %s", name, l.text(types.Unalias(obj.Type())))
		return
	}
	named := obj.Type().(*types.Named)
	declared := l.declared(named)
	switch under := named.Underlying().(type) {
	case *types.Struct:
		l.add("type %s struct", declared)
		for f := range under.Fields() {
			if f.Exported() {
				l.add("type %s struct, %s %s", name, f.Name(), l.text(f.Type()))
			}
		}
	case *types.Interface:
		l.interfaceType(declared, name, under)
		return // interfaceType has listed the methods
	default:
		l.add("type %s %s", declared, l.text(under))
	}
	methods := types.NewMethodSet(types.NewPointer(named))
	for m := range methods.Methods() {
		switch f, ok := m.Obj().(*types.Func); {
		case !ok || !f.Exported():
		case len(m.Index()) > 1: // of an embedded field
			l.add("func (%s).%s%s", name, f.Name(), strings.TrimPrefix(l.text(f.Signature()), "func"))
		default:
			l.add("%s", types.ObjectString(f, l.qualifier))
		}
	}
}

func (l *lister) interfaceType(declared, name string, t *types.Interface) {
	sealed := ""
	for m := range t.Methods() {
		if !m.Exported() {
			sealed = ", sealed"
		}
	}
	l.add("type %s interface%s", declared, sealed)
	for m := range t.Methods() {
		if m.Exported() {
			l.add("type %s interface, %s%s", name, m.Name(), l.text(m.Type())[len("func"):])
		}
	}
	for e := range t.EmbeddedTypes() {
		if _, union := e.(*types.Union); union {
			l.add("type %s interface, %s", name, l.text(e))
		}
	}
}

// declared returns a type's name with its type parameters.
func (l *lister) declared(t *types.Named) string {
	text := t.Obj().Name()
	for i := range t.TypeParams().Len() {
		p := t.TypeParams().At(i)
		text += fmt.Sprintf("[%s %s]", p.Obj().Name(), l.text(p.Constraint()))
	}
	return text
}
