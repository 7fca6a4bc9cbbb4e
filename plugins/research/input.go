package main

import (
	"regexp"
	"slices"
	"strings"
)

// places opens a line that says where to look.
const places = "in:"

// parse takes an input apart: the question, and the paths and globs of the
// lines that begin with "in:".
func parse(input string) (question string, where []string) {
	var asked []string
	for line := range strings.Lines(input) {
		line = strings.TrimSpace(line)
		if len(line) >= len(places) && strings.EqualFold(line[:len(places)], places) {
			where = append(where, strings.FieldsFunc(line[len(places):], func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })...)
			continue
		}
		asked = append(asked, line)
	}
	return strings.TrimSpace(strings.Join(asked, "\n")), where
}

var word = regexp.MustCompile(`[\pL\pN_]{3,}`)

// common are words that say nothing about where an answer is.
var common = strings.Fields("about after and any are been before but can could did does doing each for from had has have how " +
	"into its may more most not only other our out over project same should some such than that the their them then there these they this " +
	"those through under use used uses using very was were what when where which while who why will with would you your")

// mostTerms is how many words of a question are looked for.
const mostTerms = 12

// terms are the words of a question that are worth looking for.
func terms(question string) []string {
	var out []string
	for _, w := range word.FindAllString(strings.ToLower(question), -1) {
		if len(out) < mostTerms && !slices.Contains(common, w) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
