package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"syscall"
	"time"
)

// readerArgument is what the plugin is started with to be a reader.
const readerArgument = "read"

// What a reader may use for its one document.
const (
	readerTime   = 5 * time.Second
	readerHaste  = 25 * time.Millisecond // then it gives way to all others
	readerMemory = 256 << 20
)

// Exits of a reader, by which the plugin knows what became of it.
const (
	exitUnwalled = 3 // it has no walls: it began nothing
	exitLate     = 4
)

// isReader reports whether the process was started as a reader.
func isReader() bool { return len(os.Args) == 2 && os.Args[1] == readerArgument }

// giveWay has the process compute when nobody else wants to. Linux has a priority for each thread, and a confined plugin may
// lower only that of the thread which asks: so a reader does it itself. All its goroutines, the collector's too, are on one thread
// while it computes.
func giveWay() error {
	return syscall.Setpriority(syscall.PRIO_PROCESS, 0, 19)
}

// giveWayLate does so once the document has had its first moments, and again, should it be on another thread by then.
func giveWayLate() {
	time.AfterFunc(readerHaste, func() {
		_ = giveWay() // it reads on as it did
		giveWayLate()
	})
}

// readInstead makes the process a reader, where it was started as one, and does not return then.
func readInstead() {
	if !isReader() {
		return
	}
	if err := wall(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		_, _ = os.Stderr.WriteString(err.Error()) // the plugin logs it
		os.Exit(exitUnwalled)
	}
	if err := readOne(os.Stdin, os.Stdout); err != nil {
		os.Exit(1) // the plugin is gone, or has let go
	}
	os.Exit(0)
}

// rest has the collector of memory work little: a reader ends soon. It works hard before the bound is reached.
func rest() {
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(readerMemory * 3 / 4)
}

// readOne reads one document: a line that says what it is, its bytes up to the end; then a line that says
// what came of it, and its text.
func readOne(in io.Reader, out io.Writer) error {
	buffered := bufio.NewReader(in)
	line, err := buffered.ReadBytes('\n')
	if err != nil {
		return err
	}
	var d document
	if err := json.Unmarshal(line, &d); err != nil {
		return err
	}
	time.AfterFunc(readerTime+time.Second, func() { os.Exit(exitLate) }) // should the plugin not be there to do it
	giveWayLate()
	body, err := io.ReadAll(buffered)
	if err != nil {
		return err
	}
	text, r := readDocument(d, body)
	if len(text) > d.Most {
		text, r.Cut = string(whole([]byte(text[:d.Most]))), true
	}
	head, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(head, '\n')); err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}

// readDocument is the text of a document. What panics about it is what others wrote.
func readDocument(d document, body []byte) (text string, r reading) {
	defer func() {
		if recover() != nil {
			text, r = "", reading{Failed: "is not formed as it should be, and cannot be read"}
		}
	}()
	switch d.Kind {
	case kindHTML:
		return readHTML(d, body)
	case kindPDF:
		return readPDF(d, body)
	}
	decoded, err := decode(d, body)
	if err != nil {
		return "", reading{Failed: "is not in the charset that it is said to be in"}
	}
	return string(decoded), reading{}
}
