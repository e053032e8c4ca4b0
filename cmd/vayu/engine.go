package main

import (
	"os"

	"github.com/spf13/cobra"

	"vayu/internal/columnstore/embedded"
)

// runEngine runs the engine process. The supervisor starts it and communicates over its
// standard streams.
func runEngine(cmd *cobra.Command, _ []string) error {
	if embedded.Child(cmd.Context(), os.Stdin, os.Stdout, os.Stderr) != nil {
		return errReported // to the process that started this one
	}
	return nil
}
