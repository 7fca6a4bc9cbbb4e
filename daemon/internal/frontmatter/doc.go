// Package frontmatter reads Markdown files that begin with fields between two fences, as
// skills and agents do. They are anybody's: a file is opened without waiting for it, what it
// holds is bounded, and all that is odd about it is told with its place.
//
//	Open, Read  a file, if it is one and not too large
//	Parse       a text: fences, YAML, repaired once where it is none
//	Fields      the fields, read as leniently as their authors wrote them
//	Unseen      what a person who reads a text does not see
package frontmatter
