// Package plan reads plans: files in which a person says, step by step, what they want done. It makes the prompt of
// one, which is guidance and no cage, and says what becomes of its steps as they are marked. Pure: the bytes of a file
// and the steps of a run go in.
//
//	plan      what a plan is, and the prompt that it comes to
//	read      a file's bytes to a plan, by the file's name
//	value     what YAML and JSON have in common
//	fields    both forms of a plan, of those values
//	markdown  both forms of a plan, of headings
//	asked     a plan in the place of a prompt
//	steps     the steps of a run: what a plan puts there, and what a call of the tool changes
package plan
