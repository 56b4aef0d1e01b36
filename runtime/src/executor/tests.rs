mod api;
mod control;
mod crash;
mod programs;
mod start;
mod timing;
mod world;
