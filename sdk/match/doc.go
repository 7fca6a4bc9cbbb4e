// Package match finds things in names and in text: globs over paths, and the
// one place in a body that an edit means. It also shows what an edit changed.
//
// Nothing here guesses: text that fits in two places is a ConflictError that
// names both, and the caller writes nothing. Every function takes time close to
// linear in its input, whatever a model wrote.
package match
