// Package places finds the places that queries name: a city by any of its names, a pin code, and the stations near a
// position.
package places
