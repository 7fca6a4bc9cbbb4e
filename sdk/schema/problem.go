package schema

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	place   = regexp.MustCompile(`^validating (root|/\S*): `)
	keyword = regexp.MustCompile(`^(type|enum|minimum|maximum|exclusiveMinimum|exclusiveMaximum|minLength|maxLength|pattern|minItems|maxItems|uniqueItems|const|multipleOf): `)
)

// problem turns the validator's path of schemas into the property that a person
// would name: "validating root: validating /properties/n: type: ..." becomes
// `property "n": ...`.
func problem(text string) string {
	var at string
	for m := place.FindStringSubmatch(text); m != nil; m = place.FindStringSubmatch(text) {
		at, text = m[1], text[len(m[0]):]
	}
	text = keyword.ReplaceAllString(text, "")
	if name := propertyOf(at); name != "" {
		return fmt.Sprintf("property %q: %s", name, text)
	}
	return text
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
