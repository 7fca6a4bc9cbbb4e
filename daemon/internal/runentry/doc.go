// Package runentry has runs as entries: run://ALIAS is a run of a project, read as one entry, and a verb
// on it is a call of the method that does it (decision 93). It does nothing itself: whoever
// uses it, the socket for clients and the engine for plugins, makes the call by the code of that method.
package runentry
