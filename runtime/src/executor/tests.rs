mod api;
mod control;
mod crash;
mod instance;
mod programs;
mod start;
mod timing;
mod world;
