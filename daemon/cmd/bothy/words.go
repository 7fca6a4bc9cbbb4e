package main

// each is what f makes of every element of a list.
func each[T, R any](list []T, f func(T) R) []R {
	all := make([]R, len(list))
	for i, x := range list {
		all[i] = f(x)
	}
	return all
}
