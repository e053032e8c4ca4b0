// Package schema is the vocabulary of Vayu: everything that crosses a boundary
// between two parts, between Vayu and its engines, or between Vayu and its
// clients. It does no I/O and reads no clock.
package schema
