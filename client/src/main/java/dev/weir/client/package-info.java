/**
 * What an application needs to ask for decisions: {@link dev.weir.client.RateLimiter} and the
 * values that go in and come out of it. It depends on Vert.x alone.
 */
package dev.weir.client;
