// Package tags reads calls that a model writes as tags in its text. It is one
// scan forward over bytes: the names of the tools that are offered are all that it
// knows, and what a tag surrounds is taken as it stands. Nothing that a model
// writes makes it fail, take more than linear time, or lose a call without a
// warning. It is pure: texts go in, calls and warnings come out.
//
//	tool     what is said of a tool that may be called, and the twelve names
//	text     the answer as far as it has come, and all that looks at its bytes
//	reader   the scan, in steps that are taken back when more has to come first
//	opener   a tag with its attributes; quoted puts right a quote that is missing
//	body     where the body of a call ends; region, as the edit has it, and document are what no end is looked for in
//	call     a call, and which arguments its attributes and its body are
//	value    attributes by the types of the tool's schema
//	code     spans and blocks of code, in which tags are quoted
//	plain    tags that are no calls
//	foreign  what other programs have models write, one file for each family
//	warning  what a model is told of its answer
package tags
