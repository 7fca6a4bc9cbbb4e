// Package rpc is the wire between the daemon and its clients: the messages of
// JSON-RPC 2.0, the names of the methods, and what each takes and answers.
//
// One message stands on one line. The daemon greets each connection with the
// notification "hello"; a client answers by the request of the same name, and
// both compare the major number of Protocol. Older methods are verbs in camel
// case (getModels, getRuns), newer ones NOUN/VERB (run/abort).
//
// What a prompt causes does not come back as the answer of `act`: that answers
// at once with a position in the journal, and the client follows the journal
// from there (journal/watch).
package rpc
