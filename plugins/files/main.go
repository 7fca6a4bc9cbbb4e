// Command bothy-plugin-files serves the tools that read and change files.
package main

func main() {}
