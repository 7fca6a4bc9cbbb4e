package sdk

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// check says what is wrong with a value of the field.
func (f Field) check(raw json.RawMessage) error {
	value, err := AnyJSON(raw)
	if err != nil {
		return Errorf(Validation, "%s cannot be read: %w", f.Name, err)
	}
	wrong := func(what string) error { return Errorf(Validation, "%s must be %s", f.Name, what) }
	switch f.Type {
	case "boolean":
		if _, is := value.(bool); !is {
			return wrong("yes or no")
		}
	case "number", "integer":
		n, is := value.(json.Number)
		if !is || !f.holds(n) {
			return wrong(f.Hint())
		}
	case "array":
		list, is := value.([]any)
		if !is || f.minLength != nil && len(list) < *f.minLength || f.maxLength != nil && len(list) > *f.maxLength {
			return wrong("a list of choices" + f.length())
		}
		for _, v := range list {
			text, _ := v.(string)
			if !f.has(text) {
				return wrong("some of " + f.values())
			}
		}
	default:
		text, is := value.(string)
		n := utf8.RuneCountInString(text)
		switch {
		case !is:
			return wrong("a text")
		case len(f.Choices) > 0 && !f.has(text):
			return wrong("one of " + f.values())
		case f.minLength != nil && n < *f.minLength || f.maxLength != nil && n > *f.maxLength:
			return wrong("a text" + f.length())
		case !formatted(f.Format, text):
			return wrong(f.Hint())
		case f.pattern != nil && !f.pattern.MatchString(text):
			return wrong("a text of the form " + f.pattern.String())
		}
	}
	return nil
}

// length says how long a value may be.
func (f Field) length() string {
	var parts []string
	if f.minLength != nil {
		parts = append(parts, fmt.Sprintf("at least %d", *f.minLength))
	}
	if f.maxLength != nil {
		parts = append(parts, fmt.Sprintf("at most %d", *f.maxLength))
	}
	if len(parts) == 0 {
		return ""
	}
	what := " characters"
	if f.Type == "array" {
		what = ""
	}
	return " of " + strings.Join(parts, " and ") + what
}

// holds reports whether a number is within the bounds, and whole where it must be. It is
// compared by its digits: a float would take 2^53+1 for its neighbour.
func (f Field) holds(n json.Number) bool {
	number := func(n json.Number) *big.Rat {
		if len(n) > 60 || strings.ContainsAny(string(n), "eE") { // an exponent can stand for gigabytes of digits
			v, err := n.Float64()
			if err != nil {
				return nil
			}
			return new(big.Rat).SetFloat64(v)
		}
		r, _ := new(big.Rat).SetString(string(n))
		return r
	}
	r := number(n)
	if r == nil || f.Type == "integer" && !r.IsInt() {
		return false
	}
	if f.minimum != nil {
		if least := number(*f.minimum); least != nil && r.Cmp(least) < 0 {
			return false
		}
	}
	if f.maximum != nil {
		if most := number(*f.maximum); most != nil && r.Cmp(most) > 0 {
			return false
		}
	}
	return true
}

func (f Field) has(value string) bool {
	return slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Value == value })
}

func (f Field) values() string {
	var all []string
	for _, c := range f.Choices {
		all = append(all, c.Value)
	}
	return strings.Join(all, ", ")
}

// formatted reports whether a text is of a format. One that is not known is not looked at.
func formatted(format, text string) bool {
	var err error
	switch format {
	case "email":
		var a *mail.Address
		if a, err = mail.ParseAddress(text); err == nil && a.Address != text {
			return false
		}
	case "uri":
		u, err := url.Parse(text)
		return err == nil && u.Scheme != ""
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	}
	return err == nil
}
