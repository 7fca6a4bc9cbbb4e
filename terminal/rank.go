package main

import (
	"slices"
	"strings"
)

// inOrder is the rank of a name that has no more of a text than its characters, in their
// order.
const inOrder = 5

// rank says how well a name fits a text: 0 is the same, and from there on one that begins
// so, one of which a part begins so, and one that has it somewhere; -1 when it does not fit.
func rank(name, text string) int {
	switch at := strings.Index(name, text); {
	case name == text:
		return 0
	case at == 0:
		return 1
	case at > 0 && strings.ContainsAny(name[at-1:at], "-_/.: "):
		return 2
	case at > 0:
		return 3
	}
	for _, r := range text {
		at := strings.IndexRune(name, r)
		if at < 0 {
			return -1
		}
		name = name[at+len(string(r)):]
	}
	return inOrder
}

// fitting are those of a list that fit, the best first, and those that fit alike in the
// order of the list. Fit is 0 for the best, and below 0 for what does not fit.
func fitting[T any](all []T, fit func(T) int) []T {
	type placed struct {
		x    T
		rank int
	}
	var fits []placed
	for _, x := range all {
		if r := fit(x); r >= 0 {
			fits = append(fits, placed{x, r})
		}
	}
	slices.SortStableFunc(fits, func(a, b placed) int { return a.rank - b.rank })
	list := make([]T, len(fits))
	for i, p := range fits {
		list[i] = p.x
	}
	return list
}
