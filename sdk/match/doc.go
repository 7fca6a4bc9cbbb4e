// Package match finds things in names and in text: patterns of models and clients,
// globs over files, and the one place in a body that an edit means. It also shows
// what an edit changed.
//
// Nothing here guesses: text that fits in two places is a ConflictError that
// names both, and the caller writes nothing. Whatever a model wrote, a function takes
// time close to linear in its input, or ends at a bound on steps (Pattern).
package match
