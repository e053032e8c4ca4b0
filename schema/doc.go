// Package schema defines the types that cross boundaries: between parts of Vayu,
// to its databases, and to its clients. It does no I/O and reads no clock.
package schema
