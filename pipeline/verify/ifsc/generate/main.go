// Command generate writes the list of codes of package ifsc from the npm package ifsc:
// generate FOLDER FILE, where FOLDER is node_modules/ifsc. `make ifsc` runs it.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want the folder of the npm package and the file to write, got %q", args)
	}
	text, err := list(args[0])
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the header has no time and no file name, so the output is reproducible
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(args[1], packed.Bytes(), 0o600) //nolint:gosec // the file that make passes
}
