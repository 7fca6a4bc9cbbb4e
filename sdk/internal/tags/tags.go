// Package tags reads the tags of struct fields, by which an author says what the
// arguments of a tool and the attributes of a block are. A tag that says nothing is an
// error: its author took it for one that does.
package tags

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// others are the tags of packages that read the same struct elsewhere.
var others = []string{"json", "xml", "yaml", "toml", "db", "gorm", "bson", "msgpack", "cbor", "protobuf", "mapstructure", "env", "form", "query", "url"}

// Check says which tag of a field nobody reads, or that they cannot be told apart. Known
// are those that are read here.
func Check(f reflect.StructField, known ...string) error {
	names, whole := Names(f.Tag)
	if !whole {
		return fmt.Errorf("its tags `%s` cannot be read: write NAME:\"VALUE\" of each, with a blank between two", f.Tag)
	}
	for _, name := range names {
		if !slices.Contains(known, name) && !slices.Contains(others, name) {
			return fmt.Errorf("the tag %q says nothing here: there are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// Names are the names of all tags of a field, and whether that is all that stands there.
func Names(tag reflect.StructTag) (names []string, whole bool) {
	rest := strings.TrimSpace(string(tag))
	for rest != "" {
		name, behind, is := strings.Cut(rest, ":")
		if !is || name == "" || strings.ContainsAny(name, " \"") {
			return names, false
		}
		value, err := strconv.QuotedPrefix(behind)
		if err != nil || value[0] != '"' {
			return names, false
		}
		names = append(names, name)
		rest = strings.TrimSpace(behind[len(value):])
	}
	return names, true
}
