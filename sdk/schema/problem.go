package schema

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Every plugin has this package in it, and few need these: they wait until they are used.
var (
	place   = lazily(`^validating (root|/\S*): `)
	keyword = lazily(`^(type|enum|minimum|maximum|exclusiveMinimum|exclusiveMaximum|minLength|maxLength|pattern|minItems|maxItems|uniqueItems|const|multipleOf): `)
)

// compared is how the validator shows a number and its bound: 99/1 and 8.000000.
var compared = lazily(`^(-?\d+/\d+) is ([a-z ]+) (-?\d+\.\d{6})$`)

func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// Problem turns the validator's path of schemas into the property that a person
// would name: "validating root: validating /properties/n: type: ..." becomes
// `property "n": ...`.
func Problem(text string) string {
	var at string
	for m := place().FindStringSubmatch(text); m != nil; m = place().FindStringSubmatch(text) {
		at, text = m[1], text[len(m[0]):]
	}
	text = keyword().ReplaceAllString(text, "")
	if m := compared().FindStringSubmatch(text); m != nil {
		text = number(m[1]) + " is " + m[2] + " " + number(m[3])
	}
	if name := propertyOf(at); name != "" {
		return fmt.Sprintf("property %q: %s", name, text)
	}
	return text
}

// number is a number as people write it.
func number(text string) string {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64() // as near as it is
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// propertyOf reads "/properties/a/items/properties/b" as "a[].b".
func propertyOf(path string) string {
	var name strings.Builder
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i := 0; i < len(parts); i++ {
		switch parts[i] {
		case "properties":
			if i++; i < len(parts) {
				if name.Len() > 0 {
					name.WriteByte('.')
				}
				name.WriteString(parts[i])
			}
		case "items":
			name.WriteString("[]")
		}
	}
	return name.String()
}
