// Package audit makes views on the journal. The first is the runlog: one file
// per run, one JSON object a line, for people and programs that read files. Its
// format is docs/runlog.md.
//
// A runlog holds nothing that the journal does not. It is written behind the
// journal by one goroutine, so that no run waits for it, and it can be lost:
// what is missing is written again from the last whole line on.
package audit
