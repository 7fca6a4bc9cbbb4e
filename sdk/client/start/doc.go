// Package start finds the daemon of a user and starts one where none runs, so that every
// front end does it alike: bothy, the terminal, and programs of others.
//
//	daemon.go  where a daemon is and what a front end has to say for itself; greeting it
//	start.go   the process: started detached, until it greets or has told why it cannot
//	revive.go  the daemon of a run that is followed, started again when it has died
//	give.go    keys of the caller's environment that the daemon lacks
//	again.go   calls that are made again at the next daemon
package start
