// Package places finds what a client means: a city by any of its names, the
// position of a pin code, and the stations around a position.
package places
